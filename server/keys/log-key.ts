import { createPublicKey, sign } from 'node:crypto';
import { join } from 'node:path';
import type { Config } from '../config.ts';
import { readPrivateKey } from './signing-keys.ts';

/** The Ed25519 key that signs the checkpoints of all logs of a store. It is separate from the root key. */
export type LogKey = { publicKey: Uint8Array; sign(text: string): Uint8Array };

/** Reads the key from the configuration or the data directory. The first boot creates it there with mode 0600. */
export function readLogKey({ logKey, dataDir }: Pick<Config, 'logKey' | 'dataDir'>): LogKey {
  const privateKey = readPrivateKey(logKey, join(dataDir, 'log-key.pem'));
  const { x } = createPublicKey(privateKey).export({ format: 'jwk' });
  return {
    publicKey: Uint8Array.from(Buffer.from(String(x), 'base64url')),
    sign: (text) => Uint8Array.from(sign(null, Buffer.from(text), privateKey)),
  };
}
