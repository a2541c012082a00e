import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { HASH_BYTES } from '../../../client/proof/index.ts';
import { isBase64url } from '../../base64url.ts';
import { CommandError } from '../command-error.ts';
import { leafHash } from './check-tree.ts';
import type { Findings } from './findings.ts';
import { linesOf } from './lines.ts';
import { isTooNew } from './times.ts';

/** leaf: hash of the leaf of its entry, in hex. isSigned: undefined without keys to verify it with. */
export type Receipt = { event_id: string; leaf: string; issuedMs: number; isSigned: boolean | undefined };
export type ReceiptCounts = { checked: number; missing: number; too_new: number; invalid: number };

/** The receipts of a project in a file with one compact JWS a line. Throws a CommandError for a line that is not a receipt. */
export function readReceipts(path: string, projectId: string, logDirectory: string): Receipt[] {
  const keys = readKeys(join(logDirectory, 'keys.json'));
  const receipts: Receipt[] = [];
  for (const line of linesOf(path)) {
    const jws = line.toString().trim();
    if (jws !== '') receipts.push(...parseReceipt(jws, projectId, keys));
  }
  return receipts;
}

/** The root keys by their kid; undefined when they were not mirrored. */
function readKeys(path: string): ReadonlyMap<string, KeyObject> | undefined {
  if (!existsSync(path)) return undefined;
  try {
    const { keys } = JSON.parse(readFileSync(path, 'utf8')) as { keys: { kid: string; x: string }[] };
    const keyOf = (x: string) => createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
    return new Map(keys.map(({ kid, x }) => [kid, keyOf(x)]));
  } catch (cause) {
    throw new CommandError(`${path} is not a set of Ed25519 keys`, { cause });
  }
}

function parseReceipt(jws: string, projectId: string, keys: ReturnType<typeof readKeys>): Receipt[] {
  const parts = jws.split('.');
  const [head = '', body = '', signature = ''] = parts;
  const [header, payload] = [objectFrom(head), objectFrom(body)];
  const { alg, typ, kid } = header ?? {};
  const { iss, sub, jti, entry, iat } = payload ?? {};
  const isJws = parts.length === 3 && parts.every(isBase64url) && header !== undefined && sub !== undefined;
  if (isJws && sub !== projectId) return [];
  const entryBytes = Buffer.from(String(entry), 'base64url');
  const isWhole = entryBytes.length === HASH_BYTES && isBase64url(String(entry)) && typeof iat === 'number';
  if (!isJws || !isWhole)
    throw new CommandError(`The receipts have a line that is not a receipt: ${jws.slice(0, 100)}`);
  const isReceipt = alg === 'EdDSA' && typ === 'gate-receipt+jwt' && iss === 'gatehouse';
  const key = keys?.get(String(kid));
  const holds = () =>
    key !== undefined &&
    verify(null, Buffer.from(`${head}.${body}`), key, Buffer.from(signature, 'base64url'));
  return [
    {
      event_id: String(jti),
      leaf: leafHash(entryBytes).toString('hex'),
      issuedMs: iat * 1000,
      isSigned: isReceipt ? keys && holds() : false,
    },
  ];
}

function objectFrom(part: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString());
    return value instanceof Object && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

/** latestMs: when the log held everything received up to ten seconds earlier. */
export function judgeReceipts(
  receipts: Receipt[],
  { found, latestMs, findings }: { found: ReadonlySet<string>; latestMs: number; findings: Findings },
): ReceiptCounts {
  const counts = { checked: receipts.length, missing: 0, too_new: 0, invalid: 0 };
  for (const { event_id, leaf, issuedMs, isSigned } of receipts)
    if (isSigned === false) {
      counts.invalid += 1;
      findings.add('signature_invalid', `the receipt of ${event_id} is not signed by a root key`);
    } else if (!found.has(leaf) && isTooNew(issuedMs, latestMs)) counts.too_new += 1;
    else if (!found.has(leaf)) {
      counts.missing += 1;
      findings.add('missing', `the entry of the receipt of ${event_id} is not in the log`);
    }
  return counts;
}
