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

/** Sets the cookie, or removes it when there is no secret. */
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
 * Protects against cross-site request forgery: throws forbidden when a state-changing request carries the cookie and an
 * Origin of another site. Browsers send Origin with such requests; a request without it comes from another client.
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
  // Behind a proxy that ends TLS our own scheme is unknown, so the comparison uses the scheme of the Origin.
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
