import type { IncomingMessage, ServerResponse } from 'node:http';
import { parseCookie, stringifySetCookie } from 'cookie';
import { RequestError } from '../errors.ts';
import { SESSION_MS_MAX } from '../limits.ts';

const COOKIE = 'gate_session';

/** The value of the session cookie, if the request has one. */
export function sessionSecretOf(req: IncomingMessage): string | undefined {
  const { cookie } = req.headers;
  return cookie === undefined ? undefined : parseCookie(cookie)[COOKIE];
}

/** Sets the cookie; without a secret, takes it away. */
export function setSessionCookie(
  res: ServerResponse,
  secret: string | undefined,
  dashboardUrl: string,
): void {
  const maxAge = secret === undefined ? 0 : SESSION_MS_MAX / 1000;
  const secure = dashboardUrl.startsWith('https:');
  const value = secret ?? '';
  res.appendHeader(
    'Set-Cookie',
    stringifySetCookie({ name: COOKIE, value, path: '/', httpOnly: true, sameSite: 'lax', secure, maxAge }),
  );
}

/**
 * A browser sends the cookie whoever made it send the request, and tells in Origin who did. Throws forbidden when a
 * request with the cookie that may change something was made by another site. A request without Origin is no browser's.
 */
export function requireOwnOrigin(req: IncomingMessage, dashboardUrl: string): void {
  const { origin, host } = req.headers;
  if (
    req.method === 'GET' ||
    req.method === 'HEAD' ||
    origin === undefined ||
    sessionSecretOf(req) === undefined
  )
    return;
  if (!URL.canParse(origin)) throw foreignOrigin();
  const { origin: given, protocol } = new URL(origin);
  // The scheme of the own host is not known behind a proxy that ends TLS, so the caller's is taken.
  const own = `${protocol}//${host}`;
  const isOwn = URL.canParse(own) && new URL(own).origin === given;
  if (given === 'null' || (!isOwn && given !== new URL(dashboardUrl).origin)) throw foreignOrigin();
}

function foreignOrigin(): RequestError {
  return new RequestError(
    'forbidden',
    'The Origin of this request is neither this service nor its dashboard',
  );
}
