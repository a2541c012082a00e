import { randomUUID } from 'node:crypto';
import { generate } from 'selfsigned';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryDirectory } from './service.ts';

export type Certificate = { cert: string; key: string };

/** A self-signed certificate of 127.0.0.1 and localhost, as PEM. Its subject is unique, because issuers are looked up by subject. */
export async function makeCertificate(): Promise<Certificate> {
  const altNames = [
    { type: 2 as const, value: 'localhost' },
    { type: 7 as const, ip: '127.0.0.1' },
  ];
  const { cert, private: key } = await generate([{ name: 'commonName', value: randomUUID() }], {
    keyType: 'ec',
    curve: 'P-256',
    algorithm: 'sha256',
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'subjectAltName', altNames },
    ],
  });
  return { cert, key };
}

/** Files that GATE_TLS_CERT and GATE_TLS_KEY can name, and how to replace them. */
export function certificateFiles(certificate: Certificate) {
  const directory = temporaryDirectory();
  const files = { cert: join(directory, 'tls.crt'), key: join(directory, 'tls.key') };
  const write = ({ cert, key }: Certificate) => {
    writeFileSync(files.cert, cert);
    writeFileSync(files.key, key);
  };
  write(certificate);
  return { files, env: { GATE_TLS_CERT: files.cert, GATE_TLS_KEY: files.key }, write };
}
