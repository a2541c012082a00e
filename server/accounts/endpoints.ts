import { Type } from 'typebox';
import { setSessionCookie } from '../access/session-cookie.ts';
import { RequestError } from '../errors.ts';
import { endpoint } from '../http/endpoint.ts';
import { RateLimit, addressOf } from '../http/rate-limit.ts';
import { answer, BOOLEAN, STRING, UUID } from '../http/schemas.ts';
import { REGISTRATIONS_PER_ADDRESS_MAX, STRANGERS_PACE, TOKEN_FAILURES_PER_ADDRESS_MAX } from '../limits.ts';

import type { MailKind } from '../mail/messages.ts';
import { Pace } from '../pace.ts';
import type { Projects } from '../projects/projects.ts';
import type { Account } from './account-store.ts';
import type { Accounts } from './accounts.ts';
import { ANY_EMAIL, LOGIN, REGISTRATION, requirePasswordBytes, RESET, TOKEN } from './credentials.ts';
import type { MailRequests } from './mail-requests.ts';

export type AccountDeps = {
  accounts: Accounts;
  mailRequests: MailRequests;
  projects: Projects;
  dashboardUrl: string;
};

const ACCOUNT_FIELDS = { id: UUID, email: STRING, is_verified: BOOLEAN };
const ACCOUNT = answer(ACCOUNT_FIELDS, 'Account');
const ACCOUNT_ANSWER = { 200: { description: 'The account', schema: ACCOUNT } };
const ACCEPTED = answer({ status: Type.Literal('accepted') }, 'MailAccepted');
const MAIL_ANSWER = { 202: { description: 'Accepted', schema: ACCEPTED } };

const EMAIL_EXAMPLE = { email: 'ada@example.com' };
const PASSWORD_EXAMPLE = { password: 'correct horse battery staple' };
const TOKEN_EXAMPLE = { token: 'from-the-mail' };

/** The problems of calls that anyone may make: browsers may not make them from another site. */
const PUBLIC_PROBLEMS = ['forbidden', 'store_unavailable'] as const;
const PUBLIC = { method: 'POST', tag: 'Accounts', allow: 'anyone' } as const;
const SIGNED_IN = { tag: 'Accounts', allow: 'session' } as const;

/** Registration, sessions and mailed tokens. */
export function accountEndpoints(deps: AccountDeps) {
  return [registerEndpoint(deps), ...sessionEndpoints(deps), ...tokenEndpoints(deps)];
}

function registerEndpoint({ accounts }: AccountDeps) {
  const perAddress = new RateLimit(REGISTRATIONS_PER_ADDRESS_MAX);
  const pace = new Pace(STRANGERS_PACE);
  return endpoint({
    ...PUBLIC,
    path: '/v1/auth/register',
    id: 'register',
    summary: 'Create an account',
    description: 'Creates an account and its first project. No mail is sent.',
    body: { schema: REGISTRATION, example: { ...EMAIL_EXAMPLE, ...PASSWORD_EXAMPLE } },
    answers: { 201: { description: 'The new account', schema: ACCOUNT } },
    problems: [...PUBLIC_PROBLEMS, 'conflict', 'rate_limited', 'overloaded'],
    handle: async ({ req, body }) => {
      requirePasswordBytes(body.password);
      await pace.turn();
      const address = addressOf(req);
      await perAddress.consume(address);
      try {
        return publicAccount(await accounts.register(body, { address }));
      } catch (error) {
        // A refused registration costs little. Others behind the same address may still register.
        await perAddress.refund(address);
        throw error;
      }
    },
  });
}

function sessionEndpoints({ accounts, projects, dashboardUrl }: AccountDeps) {
  const pace = new Pace(STRANGERS_PACE);
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
      handle: async ({ req, res, body }) => {
        await pace.turn();
        const { account, secret } = await accounts.logIn(body, addressOf(req));
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
      handle: async ({ req, res, caller }) => {
        await accounts.logOut(caller, addressOf(req));
        setSessionCookie(res, undefined, dashboardUrl);
        return undefined;
      },
    }),
    endpoint({
      ...SIGNED_IN,
      method: 'GET',
      path: '/v1/auth/me',
      id: 'me',
      summary: 'Show the own account',
      description: 'The account of the session, and its projects.',
      answers: {
        200: {
          description: 'The account',
          schema: answer(
            { ...ACCOUNT_FIELDS, projects: Type.Array(answer({ id: STRING, name: STRING })) },
            'Me',
          ),
        },
      },
      handle: async ({ caller: { account } }) => {
        const own = await projects.listOf(account.id);
        return { ...publicAccount(account), projects: own.map(({ id, name }) => ({ id, name })) };
      },
    }),
  ];
}

function tokenEndpoints({ accounts, mailRequests }: AccountDeps) {
  const pace = new Pace(STRANGERS_PACE);
  const failuresPerAddress = new RateLimit(TOKEN_FAILURES_PER_ADDRESS_MAX);
  const mailEndpoint = <const P extends string>(
    kind: MailKind,
    given: { path: P; id: string; summary: string; description: string },
  ) => {
    const mailPace = new Pace(STRANGERS_PACE);
    return endpoint({
      ...PUBLIC,
      ...given,
      body: { schema: ANY_EMAIL, example: EMAIL_EXAMPLE },
      answers: MAIL_ANSWER,
      problems: PUBLIC_PROBLEMS,
      handle: async ({ req, body: { email } }) => {
        await mailPace.turn();
        mailRequests.post({ kind, email, address: addressOf(req) });
        return { status: 'accepted' as const };
      },
    });
  };
  /** Answers with the account. Counts invalid tokens. */
  const useToken = async (address: string, use: () => Promise<Account>) => {
    await pace.turn();
    await failuresPerAddress.require(address);
    try {
      return publicAccount(await use());
    } catch (error) {
      if (error instanceof RequestError && error.code === 'token_invalid')
        await failuresPerAddress.count(address);
      throw error;
    }
  };
  return [
    mailEndpoint('verify', {
      path: '/v1/auth/request-verify-token',
      id: 'requestVerifyToken',
      summary: 'Request a verification mail',
      description: 'Mails a link that verifies the address, if there is such an account.',
    }),
    mailEndpoint('reset', {
      path: '/v1/auth/forgot-password',
      id: 'forgotPassword',
      summary: 'Request a password reset mail',
      description: 'Mails a link that sets a new password, if there is such an account.',
    }),
    endpoint({
      ...PUBLIC,
      path: '/v1/auth/verify',
      id: 'verify',
      summary: 'Verify an e-mail address',
      description: 'Uses the token of a verification mail.',
      body: { schema: TOKEN, example: TOKEN_EXAMPLE },
      answers: ACCOUNT_ANSWER,
      problems: [...PUBLIC_PROBLEMS, 'token_invalid', 'rate_limited'],
      handle: ({ req, body: { token } }) =>
        useToken(addressOf(req), () => accounts.verify(token, addressOf(req))),
    }),
    endpoint({
      ...PUBLIC,
      path: '/v1/auth/reset-password',
      id: 'resetPassword',
      summary: 'Set a new password',
      description: 'Uses the token of a password reset mail. Ends all sessions of the account.',
      body: { schema: RESET, example: { ...TOKEN_EXAMPLE, ...PASSWORD_EXAMPLE } },
      answers: ACCOUNT_ANSWER,
      problems: [...PUBLIC_PROBLEMS, 'token_invalid', 'rate_limited', 'overloaded'],
      handle: ({ req, body }) => {
        requirePasswordBytes(body.password);
        return useToken(addressOf(req), () => accounts.resetPassword(body, addressOf(req)));
      },
    }),
  ];
}

function publicAccount({ id, email, is_verified }: Pick<Account, 'id' | 'email' | 'is_verified'>) {
  return { id, email, is_verified };
}
