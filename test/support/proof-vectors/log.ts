// Creates logs for the test vectors, with nothing but node:crypto: it shares no code with the verifiers.
import { createPrivateKey, createPublicKey, hash, type KeyObject, sign } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');
const WIDTH = 256;

export const sha256 = (...parts: Uint8Array[]): Buffer => hash('sha256', Buffer.concat(parts), 'buffer');

export function privateKeyFrom(seed: Buffer): KeyObject {
  return createPrivateKey({ key: Buffer.concat([PKCS8_PREFIX, seed]), format: 'der', type: 'pkcs8' });
}

export function publicBytesOf(key: KeyObject): Buffer {
  return Buffer.from(String(createPublicKey(key).export({ format: 'jwk' }).x), 'base64url');
}

const material = (key: KeyObject) => Buffer.concat([Buffer.of(1), publicBytesOf(key)]);
const keyIdOf = (name: string, key: KeyObject) =>
  sha256(Buffer.from(`${name}\n`), material(key)).subarray(0, 4);

export function vkeyOf(name: string, key: KeyObject): string {
  return `${name}+${keyIdOf(name, key).toString('hex')}+${material(key).toString('base64')}`;
}

/** RFC 6962 section 2.1, word for word. */
export function rootOf(leaves: Buffer[]): Buffer {
  const [only] = leaves;
  if (only === undefined) return sha256();
  if (leaves.length === 1) return only;
  let k = 1;
  while (k * 2 < leaves.length) k *= 2;
  return sha256(Buffer.of(1), rootOf(leaves.slice(0, k)), rootOf(leaves.slice(k)));
}

export const leafOf = (entry: Buffer): Buffer => sha256(Buffer.of(0), entry);

export type Head = { origin: string; entries: Buffer[]; key: KeyObject };

export function checkpointOf({ origin, entries, key }: Head, size = entries.length): string {
  const body = `${origin}\n${size}\n${rootOf(entries.map(leafOf)).toString('base64')}\n`;
  const signature = Buffer.concat([keyIdOf(origin, key), sign(null, Buffer.from(body), key)]);
  return `${body}\n— ${origin} ${signature.toString('base64')}\n`;
}

/** The files of a mirrored directory by their path. */
export function filesOfLog(head: Head): Map<string, Buffer> {
  const files = new Map<string, Buffer>([
    ['checkpoint', Buffer.from(checkpointOf(head))],
    ['vkey', Buffer.from(`${vkeyOf(head.origin, head.key)}\n`)],
  ]);
  const bundles = head.entries.map((entry) => Buffer.concat([Buffer.of(0, entry.length), entry]));
  for (const [name, bytes] of tilesOf(bundles)) files.set(`tile/entries/${name}`, bytes);
  let hashes = head.entries.map(leafOf);
  for (let level = 0; hashes.length > 0; level += 1) {
    for (const [name, bytes] of tilesOf(hashes)) files.set(`tile/${level}/${name}`, bytes);
    hashes = Array.from({ length: Math.floor(hashes.length / WIDTH) }, (_, at) =>
      rootOf(hashes.slice(at * WIDTH, (at + 1) * WIDTH)),
    );
  }
  return files;
}

function* tilesOf(items: Buffer[]): Generator<[string, Buffer]> {
  for (let at = 0; at < items.length; at += WIDTH) {
    const tile = items.slice(at, at + WIDTH);
    const name = nameOf(at / WIDTH);
    yield [tile.length === WIDTH ? name : `${name}.p/${tile.length}`, Buffer.concat(tile)];
  }
}

/** 1234067 is x001/x234/067. */
function nameOf(tile: number): string {
  const last = String(tile % 1000).padStart(3, '0');
  return tile < 1000 ? last : `${nameOf(Math.floor(tile / 1000)).replace(/(\d{3})$/, 'x$1')}/${last}`;
}

export function writeFiles(directory: string, files: Map<string, Buffer>): void {
  for (const [path, bytes] of files) {
    mkdirSync(dirname(join(directory, path)), { recursive: true });
    writeFileSync(join(directory, path), bytes);
  }
}
