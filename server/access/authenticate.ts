import type { IncomingMessage } from 'node:http';
import { type BearerKeys, type KeyIdentity, unauthenticated } from '../keys/bearer-keys.ts';

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
 * Identifies the bearer key of the request: at once when the key is in memory, else as a promise. Fails with
 * unauthenticated or store_unavailable.
 */
export function authenticate(req: IncomingMessage, keys: BearerKeys): KeyIdentity | Promise<KeyIdentity> {
  const bearerKey = bearerKeyOf(req);
  return keys.peek(bearerKey) ?? keys.verify(bearerKey);
}
