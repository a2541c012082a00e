import type { Request } from 'express';
import { sessionSecretOf, setSessionCookie } from '../access/session-cookie.ts';
import { RequestError } from '../errors.ts';
import { endpoint } from '../http/endpoint.ts';
import { answer, BOOLEAN, listOf, oneOf, STRING, TIME } from '../http/schemas.ts';
import { STRANGERS_PACE } from '../limits.ts';
import { Pace } from '../pace.ts';
import type { Projects } from '../projects/projects.ts';
import type { Accounts } from './accounts.ts';
import {
  ACCOUNT_ANSWER,
  ACCOUNT_FIELDS,
  EMAIL_EXAMPLE,
  PASSWORD_EXAMPLE,
  PUBLIC,
  PUBLIC_PROBLEMS,
  publicAccount,
  requirePasswordLogin,
  type SignIn,
} from './answers.ts';
import { LOGIN, PASSWORD_CHANGE, requirePasswordBytes } from './credentials.ts';
import type { Session } from '../access/access.ts';
import type { SessionOrigin, Sessions } from './sessions.ts';
import { Type } from '../type.ts';

export type SessionDeps = {
  accounts: Accounts;
  sessions: Sessions;
  projects: Projects;
  dashboardUrl: string;
  signIn: SignIn;
};

const SIGNED_IN = { tag: 'Accounts', allow: 'session', cacheControl: 'no-store' } as const;
const SIGN_IN = answer(
  {
    registration: oneOf(['open', 'closed']),
    password: BOOLEAN,
    sso: BOOLEAN,
    mail: oneOf(['sent', 'printed'], {
      description: 'Whether e-mails are sent, or printed by the service because it has no e-mail provider',
    }),
  },
  'SignIn',
);
const ME = answer({ ...ACCOUNT_FIELDS, projects: Type.Array(answer({ id: STRING, name: STRING })) }, 'Me');
const SESSION = answer(
  {
    id: STRING,
    created_at: TIME,
    last_seen_at: TIME,
    address: STRING,
    user_agent: STRING,
    is_current: BOOLEAN,
  },
  'Session',
);

/** Sessions and their accounts: sign in, sign out, read the account, change its password. */
export function sessionEndpoints(deps: SessionDeps) {
  const { accounts, sessions, projects, dashboardUrl, signIn } = deps;
  const pace = new Pace(STRANGERS_PACE);
  const meOf = async (account: Session['account']) => {
    const own = await projects.listOf(account.id);
    return { ...publicAccount(account), projects: own.map(({ id, name }) => ({ id, name })) };
  };
  return [
    endpoint({
      ...PUBLIC,
      path: '/v1/auth/login',
      id: 'login',
      summary: 'Sign in',
      description: 'Starts a session and sets the cookie `gate_session`.',
      body: { schema: LOGIN, example: { ...EMAIL_EXAMPLE, ...PASSWORD_EXAMPLE } },
      answers: { 200: { ...ACCOUNT_ANSWER[200], headers: ['Set-Cookie'] } },
      problems: [...PUBLIC_PROBLEMS, 'unauthenticated', 'rate_limited', 'overloaded'],
      requireOpen: () => requirePasswordLogin(signIn),
      handle: async ({ req, res, body, address }) => {
        await pace.turn();
        const { account, secret } = await accounts.logIn(body, originOf({ req, address }));
        setSessionCookie(res, secret, dashboardUrl);
        return publicAccount(account);
      },
    }),
    endpoint({
      ...SIGNED_IN,
      method: 'POST',
      path: '/v1/auth/logout',
      id: 'logout',
      summary: 'Sign out',
      description: 'Ends the session and removes its cookie.',
      answers: { 204: { description: 'The session has ended' } },
      handle: async ({ res, caller, address }) => {
        await accounts.logOut(caller, address);
        setSessionCookie(res, undefined, dashboardUrl);
      },
    }),
    endpoint({
      ...SIGNED_IN,
      method: 'GET',
      path: '/v1/auth/me',
      id: 'me',
      summary: 'Show your account',
      description: 'The account of the session, and its projects.',
      answers: { 200: { description: 'The account', schema: ME } },
      handle: ({ caller: { account } }) => meOf(account),
    }),
    endpoint({
      ...PUBLIC,
      method: 'GET',
      path: '/v1/auth/session',
      id: 'session',
      summary: 'Show who is signed in',
      description:
        'Like `GET /v1/auth/me`, but without a valid session `account` is null instead of an error.',
      answers: {
        200: {
          description: 'The account of the session, or null',
          schema: answer({ account: Type.Union([ME, Type.Null()]) }, 'SignedIn'),
        },
      },
      problems: ['store_unavailable'],
      handle: async ({ req }) => {
        const secret = sessionSecretOf(req);
        const session = secret === undefined ? undefined : await sessions.find(secret);
        return { account: session === undefined ? null : await meOf(session.account) };
      },
    }),
    endpoint({
      ...PUBLIC,
      method: 'GET',
      path: '/v1/auth/options',
      id: 'signInOptions',
      summary: 'Show the ways to sign in',
      description:
        'Whether people may register, whether they sign in with a password or by single sign-on, and whether e-mails are sent.',
      answers: { 200: { description: 'The ways to sign in', schema: SIGN_IN } },
      problems: [],
      handle: () => signIn,
    }),
    changePasswordEndpoint(deps),
    ...ownSessionEndpoints(deps),
  ];
}

function changePasswordEndpoint({ accounts, signIn }: SessionDeps) {
  return endpoint({
    ...SIGNED_IN,
    method: 'POST',
    path: '/v1/auth/change-password',
    id: 'changePassword',
    summary: 'Change your password',
    description: 'Ends the other sessions of the account. A wrong password counts as a failed login.',
    body: {
      schema: PASSWORD_CHANGE,
      example: { ...PASSWORD_EXAMPLE, new_password: 'staple battery horse correct' },
    },
    answers: { 204: { description: 'The password is changed' } },
    problems: ['conflict', 'rate_limited', 'overloaded'],
    requireOpen: () => requirePasswordLogin(signIn),
    handle: async ({ caller, body, address }) => {
      requirePasswordBytes(body.new_password, '/new_password');
      await accounts.changePassword(caller, body, address);
    },
  });
}

function ownSessionEndpoints({ accounts, sessions }: SessionDeps) {
  return [
    endpoint({
      ...SIGNED_IN,
      method: 'GET',
      path: '/v1/auth/sessions',
      id: 'listSessions',
      summary: 'List your sessions',
      description:
        'The sessions of the account, the last used first. Their last use is stored every five minutes.',
      answers: { 200: { description: 'The sessions', schema: listOf(SESSION) } },
      handle: async ({ caller }) => ({ items: await sessions.list(caller) }),
    }),
    endpoint({
      ...SIGNED_IN,
      method: 'DELETE',
      path: '/v1/auth/sessions',
      id: 'endOtherSessions',
      summary: 'End the other sessions',
      description: 'Ends all sessions of the account except the one of this call.',
      answers: { 204: { description: 'The other sessions have ended' } },
      handle: async ({ caller, address }) => {
        await accounts.endOtherSessions(caller, address);
      },
    }),
    endpoint({
      ...SIGNED_IN,
      method: 'DELETE',
      path: '/v1/auth/sessions/{id}',
      id: 'endSession',
      summary: 'End a session',
      description: 'Ends one session of the account; it may be the one of this call.',
      params: { id: STRING },
      answers: { 204: { description: 'The session has ended' } },
      problems: ['not_found'],
      handle: async ({ caller, params, address }) => {
        if (await accounts.endSession(caller, params.id, address)) return undefined;
        throw new RequestError('not_found', 'The account has no such session');
      },
    }),
  ];
}

/** Where a session is opened from. */
export function originOf({ req, address }: { req: Request; address: string }): SessionOrigin {
  return { address, userAgent: req.headers['user-agent'] ?? '' };
}
