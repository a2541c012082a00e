import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Server } from 'node:https';
import { createSecureContext, type SecureContextOptions } from 'node:tls';
import type { Logger } from 'pino';

/** Paths of PEM files: a certificate with its chain, and its private key. */
export type TlsFiles = { cert: string; key: string };
type Pair = { cert: Buffer; key: Buffer };

/** Changed files must be in use within a minute. A mismatched pair is reported at the second check. */
const CHECK_EVERY_MS = 5000;

/** The options of a listener, read from the files. Throws an error that says what is wrong with them. */
export function readTls(files: TlsFiles): SecureContextOptions & Pair {
  const faults: string[] = [];
  const read = (name: string, path: string): Buffer => {
    try {
      return readFileSync(path);
    } catch (error) {
      faults.push(`${name}: ${path} cannot be read (${(error as NodeJS.ErrnoException).code})`);
      return Buffer.alloc(0);
    }
  };
  const [cert, key] = [read('GATE_TLS_CERT', files.cert), read('GATE_TLS_KEY', files.key)];
  if (faults.length > 0) throw new Error(faults.join('; '));
  const certificate = parse(
    () => new X509Certificate(cert),
    `GATE_TLS_CERT: ${files.cert} has no PEM certificate`,
  );
  const privateKey = parse(
    () => createPrivateKey(key),
    `GATE_TLS_KEY: ${files.key} has no PEM private key, or it has a passphrase`,
  );
  if (!certificate.checkPrivateKey(privateKey))
    throw new Error(
      `GATE_TLS_KEY: the key in ${files.key} does not fit the first certificate in ${files.cert}`,
    );
  const options = { cert, key, minVersion: 'TLSv1.2' } as const;
  parse(() => createSecureContext(options), `GATE_TLS_CERT: TLS cannot use ${files.cert} with ${files.key}`);
  return options;
}

/**
 * Uses changed files for new connections. A mismatched or unreadable pair is logged as an error, and the old pair stays in use. Returns a
 * function that stops this.
 */
export function followTlsFiles(
  server: Pick<Server, 'setSecureContext'>,
  { files, inUse, logger, everyMs = CHECK_EVERY_MS }: FollowOptions,
): () => void {
  let known = textOf(inUse);
  let fault: { message: string; isReported: boolean } | undefined;
  const check = () => {
    try {
      const options = readTls(files);
      fault = undefined;
      if (textOf(options) === known) return;
      server.setSecureContext(options);
      known = textOf(options);
      const { validTo, fingerprint256 } = new X509Certificate(options.cert);
      logger?.info({ valid_to: validTo, fingerprint256 }, 'The changed TLS certificate is in use');
    } catch (error) {
      const { message } = error as Error;
      // The two files are not replaced at the same moment, so only a lasting mismatch is an error.
      const isSame = fault?.message === message;
      if (isSame && fault?.isReported === false)
        logger?.error({ reason: message }, 'The changed TLS files are not used; the old ones stay in use');
      fault = { message, isReported: isSame };
    }
  };
  const timer = setInterval(check, everyMs).unref();
  return () => clearInterval(timer);
}

type FollowOptions = { files: TlsFiles; inUse: Pair; logger: Logger | undefined; everyMs?: number };

function textOf({ cert, key }: Pair): string {
  return `${String(cert)}\n${String(key)}`;
}

function parse<T>(work: () => T, fault: string): T {
  try {
    return work();
  } catch (cause) {
    throw new Error(fault, { cause });
  }
}
