import type { Request, Response } from 'express';
import { parseCookie, stringifySetCookie } from 'cookie';
import { setSessionCookie } from '../access/session-cookie.ts';
import { RequestError } from '../errors.ts';
import { endpoint } from '../http/endpoint.ts';
import { problemFrom } from '../http/error-handler.ts';
import { SIGN_ON_MS_MAX, SIGN_ON_NEXT_CHARS_MAX, STRANGERS_PACE } from '../limits.ts';
import { Pace } from '../pace.ts';
import type { OidcProvider, SignOn } from './oidc-provider.ts';
import { originOf } from './session-endpoints.ts';
import type { SingleSignOn } from './single-sign-on.ts';
import { Type } from '../type.ts';

export type SingleSignOnDeps = {
  /** Undefined when no provider is configured. */
  singleSignOn: { provider: OidcProvider; people: SingleSignOn } | undefined;
  dashboardUrl: string;
};

const GET = { method: 'GET', tag: 'Accounts', allow: 'anyone', cacheControl: 'no-store' } as const;
const PROBLEMS = ['not_found', 'provider_unavailable', 'overloaded'] as const;
const NEXT = Type.String({
  maxLength: SIGN_ON_NEXT_CHARS_MAX,
  pattern: '^/[!-~]*$',
  description: 'The page of the dashboard to return to, as path and query. The sign-in page checks it.',
});
type Begun = SignOn & { next?: string };

/** The two calls that a browser makes: to the provider, and back from it. */
export function singleSignOnEndpoints({ singleSignOn, dashboardUrl }: SingleSignOnDeps) {
  const [startPace, callbackPace] = [new Pace(STRANGERS_PACE), new Pace(STRANGERS_PACE)];
  const requireConfigured = () => {
    if (singleSignOn !== undefined) return singleSignOn;
    throw new RequestError('not_found', 'Single sign-on is not configured');
  };
  return [
    endpoint({
      ...GET,
      path: '/v1/auth/oidc/start',
      id: 'startSingleSignOn',
      summary: 'Sign in by single sign-on',
      description:
        'Sends the browser to the OpenID Connect provider, with a cookie that identifies it on its return.',
      query: Type.Object({ next: Type.Optional(NEXT) }),
      answers: {
        302: {
          description: 'To the provider, or to the sign-in page with the error',
          headers: ['Location'],
        },
      },
      problems: PROBLEMS,
      handle: ({ req, res, query: { next } }) =>
        inBrowser({ req, res, dashboardUrl }, async () => {
          const { provider } = requireConfigured();
          await startPace.turn();
          const { url, signOn } = await provider.start();
          signOnCookie(dashboardUrl).set(res, JSON.stringify({ ...signOn, next }));
          return url.href;
        }),
    }),
    endpoint({
      ...GET,
      path: '/v1/auth/oidc/callback',
      id: 'finishSingleSignOn',
      summary: 'Finish a single sign-on',
      description:
        'The provider sends the browser here. Starts a session and sets the cookie `gate_session`.',
      answers: {
        302: {
          description: 'To the dashboard, or to the sign-in page with the error',
          headers: ['Location'],
        },
      },
      problems: [...PROBLEMS, 'token_invalid', 'store_unavailable'],
      handle: ({ req, res, address }) =>
        inBrowser({ req, res, dashboardUrl }, async () => {
          const { provider, people } = requireConfigured();
          await callbackPace.turn();
          const cookie = signOnCookie(dashboardUrl);
          const signOn = cookie.read(req);
          cookie.set(res, '');
          if (signOn === undefined)
            throw new RequestError(
              'token_invalid',
              'This browser has no sign-in under way, or it has expired. Start again',
            );
          const person = await provider.finish(new URL(req.originalUrl, dashboardUrl).search, signOn);
          setSessionCookie(res, await people.signIn(person, originOf({ req, address })), dashboardUrl);
          const { next } = signOn;
          return `${dashboardUrl}/${next === undefined ? '' : `sign-in?next=${encodeURIComponent(next)}`}`;
        }),
    }),
  ];
}

type Browser = { req: Request; res: Response; dashboardUrl: string };

/** Redirects to what `work` returns. Errors are shown on the sign-in page, because JSON would not help a person in a browser. */
async function inBrowser(
  { req, res, dashboardUrl }: Browser,
  work: () => Promise<string>,
): Promise<undefined> {
  try {
    res.setHeader('Location', await work());
  } catch (error) {
    const { code } = problemFrom(error);
    if (req.headers.accept?.includes('text/html') !== true || code === 'internal') throw error;
    res.setHeader('Location', `${dashboardUrl}/sign-in?sso=${code}`);
  }
  return undefined;
}

/**
 * Ties the callback to the browser that started the sign-on, even without a session. With https, the prefix __Host- keeps other hosts of
 * the domain from setting the cookie (RFC 6265bis section 4.1.3.2).
 */
function signOnCookie(dashboardUrl: string) {
  const secure = dashboardUrl.startsWith('https:');
  const name = secure ? '__Host-gate_sign_on' : 'gate_sign_on';
  const options = { name, path: '/', httpOnly: true, sameSite: 'lax', secure } as const;
  return {
    set: (res: Response, value: string) => {
      const maxAge = value === '' ? 0 : SIGN_ON_MS_MAX / 1000;
      res.appendHeader('Set-Cookie', stringifySetCookie({ ...options, value, maxAge }));
    },
    read: (req: Request): Begun | undefined => {
      try {
        const signOn = JSON.parse(parseCookie(req.headers.cookie ?? '')[name] ?? '') as Partial<Begun>;
        const { state, nonce, verifier } = signOn;
        const isWhole = [state, nonce, verifier].every((text) => typeof text === 'string' && text !== '');
        return isWhole ? (signOn as Begun) : undefined;
      } catch {
        // Not set, or not by us.
        return undefined;
      }
    },
  };
}
