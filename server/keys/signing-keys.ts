import { createPrivateKey, createPublicKey, randomBytes, type KeyObject } from 'node:crypto';
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { calculateJwkThumbprint } from 'jose';
import { makeDirectory } from '../make-directory.ts';

/** The DER encoding of a PKCS#8 Ed25519 key up to its seed (RFC 8410 section 7). */
const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');

export type PublicJwk = { kty: 'OKP'; crv: 'Ed25519'; alg: 'EdDSA'; use: 'sig'; kid: string; x: string };

/** The root key, which signs bearer keys and bundles, and the public keys of all keys that still verify. */
export type SigningKeys = {
  kid: string;
  privateKey: KeyObject;
  /** The 32-byte seed of RFC 8032. */
  seed: Uint8Array;
  /** By kid, the current key first, then the retired ones. */
  publicKeys: Map<string, KeyObject>;
  jwks: { keys: PublicJwk[] };
};

type SigningKeysOptions = { signingKey: string | undefined; retired: string[]; dataDir: string };

/** Reads the root key from the configuration or the data directory. The first boot creates it there with mode 0600. */
export async function readSigningKeys({
  signingKey,
  retired,
  dataDir,
}: SigningKeysOptions): Promise<SigningKeys> {
  const privateKey = readPrivateKey(signingKey, dataDir);
  const seed = Buffer.from(String(privateKey.export({ format: 'jwk' }).d), 'base64url');
  const current = await publicJwk(createPublicKey(privateKey));
  const old = await Promise.all(retired.map((x) => publicJwk(publicKeyFromRaw(Buffer.from(x, 'base64')))));
  const keys = [...new Map([current, ...old].map((jwk) => [jwk.kid, jwk])).values()];
  const publicKeys = new Map(keys.map((jwk) => [jwk.kid, createPublicKey({ key: jwk, format: 'jwk' })]));
  return { kid: current.kid, privateKey, seed, publicKeys, jwks: { keys } };
}

function readPrivateKey(signingKey: string | undefined, dataDir: string): KeyObject {
  if (signingKey === undefined) return readOrMakeKeyFile(dataDir);
  if (existsSync(signingKey)) return readKeyFile(signingKey);
  return privateKeyFromSeed(Buffer.from(signingKey, 'base64'));
}

function readOrMakeKeyFile(dataDir: string): KeyObject {
  const path = join(dataDir, 'signing-key.pem');
  if (existsSync(path)) return readKeyFile(path);
  makeDirectory(dataDir);
  const key = privateKeyFromSeed(randomBytes(32));
  // 'wx': when two processes start at the same time, one creates the file and the other reads it.
  try {
    const file = openSync(path, 'wx', 0o600);
    writeSync(file, String(key.export({ type: 'pkcs8', format: 'pem' })));
    fsyncSync(file);
    closeSync(file);
    return key;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return readKeyFile(path);
  }
}

function readKeyFile(path: string): KeyObject {
  const key = createPrivateKey(readFileSync(path));
  if (key.asymmetricKeyType === 'ed25519') return key;
  throw new Error(
    `The signing key in ${path} is ${key.asymmetricKeyType}; it must be an Ed25519 key in PKCS#8 PEM`,
  );
}

function privateKeyFromSeed(seed: Buffer): KeyObject {
  return createPrivateKey({ key: Buffer.concat([PKCS8_PREFIX, seed]), format: 'der', type: 'pkcs8' });
}

function publicKeyFromRaw(raw: Buffer): KeyObject {
  return createPublicKey({
    key: { kty: 'OKP', crv: 'Ed25519', x: raw.toString('base64url') },
    format: 'jwk',
  });
}

/** The kid is the RFC 7638 thumbprint of the key. */
async function publicJwk(key: KeyObject): Promise<PublicJwk> {
  const x = String(key.export({ format: 'jwk' }).x);
  const kid = await calculateJwkThumbprint({ kty: 'OKP', crv: 'Ed25519', x });
  return { kty: 'OKP', crv: 'Ed25519', alg: 'EdDSA', use: 'sig', kid, x };
}
