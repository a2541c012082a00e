import { RequestError } from '../errors.ts';
import { answer, BOOLEAN, STRING, UUID } from '../http/schemas.ts';
import type { Account } from './account-store.ts';

export const ACCOUNT_FIELDS = { id: UUID, email: STRING, is_verified: BOOLEAN };
export const ACCOUNT = answer(ACCOUNT_FIELDS, 'Account');
export const ACCOUNT_ANSWER = { 200: { description: 'The account', schema: ACCOUNT } };

export const EMAIL_EXAMPLE = { email: 'ada@example.com' };
export const PASSWORD_EXAMPLE = { password: 'correct horse battery staple' };

/** The problems of calls that anyone may make, except browsers on another site. */
export const PUBLIC_PROBLEMS = ['forbidden', 'store_unavailable'] as const;
export const PUBLIC = { method: 'POST', tag: 'Accounts', allow: 'anyone' } as const;

/** An account as its owner sees it. */
export function publicAccount({ id, email, is_verified }: Pick<Account, 'id' | 'email' | 'is_verified'>) {
  return { id, email, is_verified };
}

/** The ways to sign in, and whether mails are sent or only printed. */
export type SignIn = {
  registration: 'open' | 'closed';
  password: boolean;
  sso: boolean;
  mail: 'sent' | 'printed';
};

/** Throws forbidden where only single sign-on lets people in. */
export function requirePasswordLogin({ password }: SignIn): void {
  if (!password)
    throw new RequestError('forbidden', 'Sign in with single sign-on. Passwords are switched off');
}
