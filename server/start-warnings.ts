import type { Logger } from 'pino';
import type { Config } from './config.ts';
import type { RootKeys } from './keys/root-keys.ts';
import { hasSigningKey } from './keys/signing-keys.ts';
import { STATEMENT_WAIT_MS_MAX } from './limits.ts';
import type { LogSigner } from './log/log-signer.ts';
import { type BrokenPart, nameParts } from './store/broken-parts.ts';
import type { Connection } from './store/connection.ts';
import { sql } from './store/sql.ts';
import { withTimeout } from './store/with-timeout.ts';

/** The service continues to run, because current events matter as well. */
export function warnOfBrokenParts(parts: BrokenPart[], logger: Logger): void {
  logger.error(
    { parts: nameParts(parts) },
    'The engine found damaged files in the store: the records in them are missing from every answer. docs/operations.md says how to restore them, under "Damaged files"',
  );
}

const REPLACE_KEY =
  'Stop the service, and replace signing-key.pem with the file of a backup or of another service, or set GATE_SIGNING_KEY';

/** Only the first start of a store makes the root key. A server may be down: then nothing is known of it. */
export async function warnOfLostRootKey(
  connection: Connection,
  { config, logger }: { config: Config; logger: Logger },
): Promise<void> {
  const reading = connection.queryBytes(sql('table_rows'), { table: 'api_keys' });
  const keys = await withTimeout(reading, STATEMENT_WAIT_MS_MAX).catch(() => '');
  // Another worker may have made it meanwhile.
  if (keys.length === 0 || hasSigningKey(config)) return;
  logger.error(
    `The root key of this store is missing, and a new one is made: all keys issued before are refused, and clients refuse policies. ${REPLACE_KEY}`,
  );
}

/** Logged at each start. An older root key still works, but clients that know only its successors refuse its signatures. */
export async function warnOfWrongRootKey(rootKeys: RootKeys, logger: Logger): Promise<void> {
  if (await rootKeys.isForgotten().catch(() => false))
    return logger.error(
      { kid: rootKeys.current.kid },
      'The root key of this process was forgotten: it may have leaked, and this process trusts what it signed. ' +
        'Stop the process, and give it the present one: set GATE_SIGNING_KEY, or replace the key file',
    );
  if (await rootKeys.isForeign().catch(() => false))
    return logger.error(
      { kid: rootKeys.current.kid },
      `The root key of this process is not the one of this store, and signed none of its policies: keys issued with the other one are refused, and clients refuse policies. ${REPLACE_KEY}`,
    );
  const [successor] = await rootKeys.successors().catch(() => []);
  if (successor === undefined) return;
  logger.warn(
    { kid: rootKeys.current.kid, successor },
    'The root key of this process was replaced. Give it the new one: set GATE_SIGNING_KEY, or replace the key file',
  );
}

/** The service continues to run, because records matter more than their proofs. */
export async function warnOfLogKey(logSigner: LogSigner, logger: Logger): Promise<void> {
  // If the store is unavailable, the first call for a checkpoint finds out.
  const fault = await logSigner.fault().catch(() => undefined);
  if (fault !== undefined) logger.error({ code: fault.code }, fault.message);
}
