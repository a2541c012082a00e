import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { type BearerKeys, type KeyIdentity, unauthenticated } from '../keys/bearer-keys.ts';
import { sha256Hex } from '../sha256.ts';

const BEARER = /^Bearer +([\w.~+/-]+=*) *$/i;

/** False for another scheme, such as a proxy's Basic. */
export function hasBearerKey(req: IncomingMessage): boolean {
  return /^Bearer\b/i.test(req.headers.authorization ?? '');
}

/** The bearer key of the Authorization header (RFC 6750 section 2.1). Throws unauthenticated without one. */
function bearerKeyOf(req: IncomingMessage): string {
  const header = req.headers.authorization;
  if (header === undefined)
    throw unauthenticated('The Authorization header is missing; send Authorization: Bearer <key>');
  const key = BEARER.exec(header)?.[1];
  if (key === undefined) throw unauthenticated('The Authorization header must read: Bearer <key>');
  return key;
}

/**
 * Identifies the bearer key of the request: immediately if the key is in memory, else as a promise. Fails with unauthenticated or
 * store_unavailable.
 */
export function authenticate(req: IncomingMessage, keys: BearerKeys): KeyIdentity | Promise<KeyIdentity> {
  const bearerKey = bearerKeyOf(req);
  return keys.peek(bearerKey) ?? keys.verify(bearerKey);
}

/** Throws unauthenticated unless the request bears this token. The time it takes says nothing about the token. */
export function requireToken(req: IncomingMessage, token: string): void {
  const digestOf = (text: string) => Buffer.from(sha256Hex(text));
  if (!timingSafeEqual(digestOf(bearerKeyOf(req)), digestOf(token)))
    throw unauthenticated('The bearer token is wrong');
}
