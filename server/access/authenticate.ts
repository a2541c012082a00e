import type { IncomingMessage } from 'node:http';
import { type BearerKeys, type KeyIdentity, unauthenticated } from '../keys/bearer-keys.ts';

const BEARER = /^Bearer +([\w.~+/-]+=*) *$/i;

/** The bearer key of the Authorization header (RFC 6750 section 2.1). Throws unauthenticated when there is none. */
function bearerKeyOf(req: IncomingMessage): string {
  const header = req.headers.authorization;
  if (header === undefined)
    throw unauthenticated('The Authorization header is missing; send Authorization: Bearer <key>');
  const key = BEARER.exec(header)?.[1];
  if (key === undefined) throw unauthenticated('The Authorization header must read: Bearer <key>');
  return key;
}

/** Whose bearer key came with the request. At once when it is known; else a promise. Fails with unauthenticated or store_unavailable. */
export function authenticate(req: IncomingMessage, keys: BearerKeys): KeyIdentity | Promise<KeyIdentity> {
  const bearerKey = bearerKeyOf(req);
  return keys.peek(bearerKey) ?? keys.verify(bearerKey);
}
