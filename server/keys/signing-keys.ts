import { createPrivateKey, createPublicKey, randomBytes, randomUUID, type KeyObject } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { calculateJwkThumbprint } from 'jose';
import { type Config, ConfigError } from '../config.ts';
import { sync } from '../durable-files.ts';
import { makeDirectory } from '../make-directory.ts';

/** The DER encoding of a PKCS#8 Ed25519 key up to its seed (RFC 8410 section 7). */
const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');

export type PublicJwk = { kty: 'OKP'; crv: 'Ed25519'; alg: 'EdDSA'; use: 'sig'; kid: string; x: string };

/** The root key, which signs bearer keys and bundles, and the retired keys of the configuration. */
export type SigningKeys = {
  kid: string;
  privateKey: KeyObject;
  /** The 32-byte seed of RFC 8032. */
  seed: Uint8Array;
  jwk: PublicJwk;
  retired: PublicJwk[];
};

/** Reads the root key from the configuration or the data directory. The first boot creates it there with mode 0600. */
export async function readSigningKeys(
  config: Pick<Config, 'signingKey' | 'retiredSigningKeys' | 'dataDir'>,
): Promise<SigningKeys> {
  const retired = await Promise.all(
    config.retiredSigningKeys.map((key) => publicKeyOf(Buffer.from(key, 'base64').toString('base64url'))),
  );
  const privateKey = readPrivateKey(config.signingKey, keyFileOf(config.dataDir));
  return { ...(await signingKeysFrom(privateKey)), retired };
}

async function signingKeysFrom(privateKey: KeyObject): Promise<SigningKeys> {
  const { d, x } = privateKey.export({ format: 'jwk' });
  const jwk = await publicKeyOf(String(x));
  return { kid: jwk.kid, privateKey, seed: Buffer.from(String(d), 'base64url'), jwk, retired: [] };
}

/** The Ed25519 key of a variable: a seed in base64, or the path of a PEM file. If unset, it is in this file, and created at first use. */
export function readPrivateKey(given: string | undefined, path: string): KeyObject {
  if (given === undefined) return readOrMakeKeyFile(path);
  if (existsSync(given)) return readKeyFile(given);
  return privateKeyFromSeed(Buffer.from(given, 'base64'));
}

function readOrMakeKeyFile(path: string): KeyObject {
  if (existsSync(path)) return readKeyFile(path);
  makeDirectory(dirname(path));
  const key = privateKeyFromSeed(randomBytes(32));
  // When two processes start at the same time, one creates the file and the other reads it.
  try {
    writeKeyFile(path, key);
    return key;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return readKeyFile(path);
  }
}

/** Whether there is a root key, so that `readSigningKeys` creates none. */
export function hasSigningKey({ signingKey, dataDir }: Pick<Config, 'signingKey' | 'dataDir'>): boolean {
  return signingKey !== undefined || existsSync(keyFileOf(dataDir));
}

/** The path of the root key if the configuration names none. */
function keyFileOf(dataDir: string): string {
  return join(dataDir, 'signing-key.pem');
}

/** Creates a root key for a rotation, in a separate file in the data directory. */
export async function makeNextKey(dataDir: string): Promise<SigningKeys> {
  makeDirectory(dataDir);
  const next = await signingKeysFrom(privateKeyFromSeed(randomBytes(32)));
  writeKeyFile(nextKeyFileOf(dataDir, next.kid), next.privateKey);
  return next;
}

/** The key of an interrupted rotation; undefined if its file is gone. */
export async function readNextKey(dataDir: string, kid: string): Promise<SigningKeys | undefined> {
  const path = nextKeyFileOf(dataDir, kid);
  return existsSync(path) ? signingKeysFrom(readKeyFile(path)) : undefined;
}

/** The keys that rotations have left in separate files. */
export function nextKeyFilesIn(dataDir: string): { kid: string; path: string }[] {
  return readdirSync(dataDir).flatMap((name) => {
    const kid = NEXT_KEY_FILE.exec(name)?.[1];
    return kid === undefined ? [] : [{ kid, path: join(dataDir, name) }];
  });
}

/** Puts the next key in the place of the current one, atomically. */
export function installNextKey(dataDir: string, kid: string): void {
  renameSync(nextKeyFileOf(dataDir, kid), keyFileOf(dataDir));
  sync(dataDir);
}

/** Including the name under which an interrupted write leaves it. */
const NEXT_KEY_FILE = /^signing-key-([\w-]+)\.pem/;

/** A kid is base64url, so it can be part of a file name. */
export function nextKeyFileOf(dataDir: string, kid: string): string {
  return join(dataDir, `signing-key-${kid}.pem`);
}

/** Whole or not at all. Fails with EEXIST if the file exists: a key is never overwritten. */
function writeKeyFile(path: string, key: KeyObject): void {
  const written = `${path}.${randomUUID()}`;
  const file = openSync(written, 'wx', 0o600);
  try {
    writeSync(file, String(key.export({ type: 'pkcs8', format: 'pem' })));
    fsyncSync(file);
    linkSync(written, path);
  } finally {
    closeSync(file);
    rmSync(written);
  }
  sync(dirname(path));
}

function readKeyFile(path: string): KeyObject {
  const key = privateKeyFrom(readBytes(path));
  if (key?.asymmetricKeyType === 'ed25519') return key;
  const found = key === undefined ? 'cannot be read' : `is ${key.asymmetricKeyType}`;
  throw new ConfigError([`The key in ${path} ${found}; it must be an Ed25519 key in PKCS#8 PEM`]);
}

/** A file that this user may not read says nothing about the key in it. */
function readBytes(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new ConfigError([`The key file ${path} cannot be read (${(error as NodeJS.ErrnoException).code})`]);
  }
}

function privateKeyFrom(pem: Buffer): KeyObject | undefined {
  try {
    return createPrivateKey(pem);
  } catch {
    // Its message names no file.
    return undefined;
  }
}

function privateKeyFromSeed(seed: Buffer): KeyObject {
  return createPrivateKey({ key: Buffer.concat([PKCS8_PREFIX, seed]), format: 'der', type: 'pkcs8' });
}

/** The JWK of a public key, given as base64url of its 32 bytes. The kid is its RFC 7638 thumbprint. */
export async function publicKeyOf(x: string): Promise<PublicJwk> {
  const key = { kty: 'OKP', crv: 'Ed25519', x } as const;
  // Throws for anything that is not a key.
  createPublicKey({ key, format: 'jwk' });
  const kid = await calculateJwkThumbprint(key);
  return { kty: 'OKP', crv: 'Ed25519', alg: 'EdDSA', use: 'sig', kid, x };
}
