import { RequestError } from '../errors.ts';
import { endpoint } from '../http/endpoint.ts';
import { RateLimit } from '../http/rate-limit.ts';
import { answer } from '../http/schemas.ts';
import { REGISTRATIONS_PER_ADDRESS_MAX, STRANGERS_PACE, TOKEN_FAILURES_PER_ADDRESS_MAX } from '../limits.ts';
import type { TokenMailKind } from '../mail/messages.ts';
import { Pace } from '../pace.ts';
import type { Account } from './account-store.ts';
import {
  ACCOUNT,
  ACCOUNT_ANSWER,
  EMAIL_EXAMPLE,
  PASSWORD_EXAMPLE,
  PUBLIC,
  PUBLIC_PROBLEMS,
  publicAccount,
  requirePasswordLogin,
} from './answers.ts';
import { ANY_EMAIL, REGISTRATION, requirePasswordBytes, RESET, TOKEN } from './credentials.ts';
import { type SessionDeps, sessionEndpoints } from './session-endpoints.ts';
import type { MailRequests } from './mail-requests.ts';
import { Type } from '../type.ts';

export type AccountDeps = SessionDeps & { mailRequests: MailRequests };

const ACCEPTED = answer({ status: Type.Literal('accepted') }, 'MailAccepted');
const MAIL_ANSWER = { 202: { description: 'Accepted', schema: ACCEPTED } };
const TOKEN_EXAMPLE = { token: 'from-the-mail' };

/** Registration, sessions and mailed tokens. */
export function accountEndpoints(deps: AccountDeps) {
  return [registerEndpoint(deps), ...sessionEndpoints(deps), ...tokenEndpoints(deps)];
}

function registerEndpoint({ accounts, signIn }: AccountDeps) {
  const perAddress = new RateLimit('registrations', REGISTRATIONS_PER_ADDRESS_MAX);
  const pace = new Pace(STRANGERS_PACE);
  return endpoint({
    ...PUBLIC,
    path: '/v1/auth/register',
    id: 'register',
    summary: 'Create an account',
    description: 'Creates an account and its first project. No e-mail is sent.',
    body: { schema: REGISTRATION, example: { ...EMAIL_EXAMPLE, ...PASSWORD_EXAMPLE } },
    answers: { 201: { description: 'The new account', schema: ACCOUNT } },
    problems: [...PUBLIC_PROBLEMS, 'conflict', 'rate_limited', 'overloaded'],
    requireOpen: () => {
      requirePasswordLogin(signIn);
      if (signIn.registration === 'closed')
        throw new RequestError('forbidden', 'Registration is closed. Ask a member of a project to add you');
    },
    handle: async ({ body, address }) => {
      requirePasswordBytes(body.password);
      await pace.turn();
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

function tokenEndpoints({ accounts, mailRequests, signIn }: AccountDeps) {
  const pace = new Pace(STRANGERS_PACE);
  const failuresPerAddress = new RateLimit('token_failures', TOKEN_FAILURES_PER_ADDRESS_MAX);
  const mailEndpoint = <const P extends string>(
    kind: TokenMailKind,
    given: { path: P; id: string; summary: string; description: string },
  ) => {
    const mailPace = new Pace(STRANGERS_PACE);
    return endpoint({
      ...PUBLIC,
      ...given,
      body: { schema: ANY_EMAIL, example: EMAIL_EXAMPLE },
      answers: MAIL_ANSWER,
      problems: PUBLIC_PROBLEMS,
      requireOpen: () => {
        if (kind === 'reset') requirePasswordLogin(signIn);
      },
      handle: async ({ body: { email }, address }) => {
        await mailPace.turn();
        mailRequests.post({ kind, email, address });
        return { status: 'accepted' as const };
      },
    });
  };
  /** Answers with the account. Counts invalid tokens. */
  const useToken = async (address: string, use: () => Promise<Account>) => {
    await pace.turn();
    // Counted first, so that parallel attempts cannot exceed the limit.
    await failuresPerAddress.consume(address);
    let isInvalid = false;
    try {
      return publicAccount(await use());
    } catch (error) {
      isInvalid = error instanceof RequestError && error.code === 'token_invalid';
      throw error;
    } finally {
      if (!isInvalid) await failuresPerAddress.refund(address);
    }
  };
  return [
    mailEndpoint('verify', {
      path: '/v1/auth/request-verify-token',
      id: 'requestVerifyToken',
      summary: 'Request a verification e-mail',
      description: 'Mails a link that verifies the address, if there is such an account.',
    }),
    mailEndpoint('reset', {
      path: '/v1/auth/forgot-password',
      id: 'forgotPassword',
      summary: 'Request a password reset e-mail',
      description: 'Mails a link that sets a new password, if there is such an account.',
    }),
    endpoint({
      ...PUBLIC,
      path: '/v1/auth/verify',
      id: 'verify',
      summary: 'Verify an e-mail address',
      description: 'Uses the token of a verification e-mail.',
      body: { schema: TOKEN, example: TOKEN_EXAMPLE },
      answers: ACCOUNT_ANSWER,
      problems: [...PUBLIC_PROBLEMS, 'token_invalid', 'rate_limited'],
      handle: ({ body: { token }, address }) => useToken(address, () => accounts.verify(token, address)),
    }),
    endpoint({
      ...PUBLIC,
      path: '/v1/auth/reset-password',
      id: 'resetPassword',
      summary: 'Set a new password',
      description: 'Uses the token of a password reset e-mail. Ends all sessions of the account.',
      body: { schema: RESET, example: { ...TOKEN_EXAMPLE, ...PASSWORD_EXAMPLE } },
      answers: ACCOUNT_ANSWER,
      problems: [...PUBLIC_PROBLEMS, 'token_invalid', 'rate_limited', 'overloaded'],
      requireOpen: () => requirePasswordLogin(signIn),
      handle: ({ body, address }) => {
        requirePasswordBytes(body.password);
        return useToken(address, () => accounts.resetPassword(body, address));
      },
    }),
  ];
}
