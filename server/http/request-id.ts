import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

const VISIBLE_ASCII = /^[\x21-\x7e]{1,128}$/;

/** The caller's X-Request-Id if it has 1 to 128 visible ASCII characters, else a new UUID. */
export function requestIdOf(req: IncomingMessage): string {
  const given = req.headers['x-request-id'];
  return typeof given === 'string' && VISIBLE_ASCII.test(given) ? given : randomUUID();
}
