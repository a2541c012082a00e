import { Router, type RequestHandler, type Response } from 'express';
import { RateLimit, addressOf } from '../http/rate-limit.ts';
import { RequestError } from '../errors.ts';
import { readJson } from '../http/read-json.ts';
import { createRouter, mount } from '../http/routes.ts';
import { requireOwnOrigin, setSessionCookie } from '../access/session-cookie.ts';
import {
  MAILS_PER_ACCOUNT_MAX,
  MAILS_PER_ADDRESS_MAX,
  REGISTRATIONS_PER_ADDRESS_MAX,
  TOKEN_FAILURES_PER_ADDRESS_MAX,
} from '../limits.ts';
import type { MailKind } from '../mail/messages.ts';
import type { Projects } from '../projects/projects.ts';
import type { Access } from '../access/access.ts';
import type { Account } from './account-store.ts';
import type { Accounts } from './accounts.ts';
import { accountKey } from './login-limits.ts';
import { parseEmail, parseLogin, parseRegister, parseReset, parseToken } from './schemas.ts';

export type AccountDeps = { accounts: Accounts; access: Access; projects: Projects; dashboardUrl: string };

/** The account endpoints (SPECIFICATION 4.10, CONTRACT 8). */
export function accountRoutes(deps: AccountDeps): Router {
  const router = createRouter();
  router.use('/v1/auth', (req, res, next) => {
    res.set('Cache-Control', 'no-store');
    requireOwnOrigin(req, deps.dashboardUrl);
    next();
  });
  mount(router, '/v1/auth/register', { post: registerHandler(deps) });
  mountTokens(router, deps);
  mountSessions(router, deps);
  return router;
}

function publicAccount({ id, email, is_verified }: Account) {
  return { id, email, is_verified };
}

function registerHandler({ accounts }: AccountDeps): RequestHandler {
  const perAddress = new RateLimit(REGISTRATIONS_PER_ADDRESS_MAX);
  return async (req, res) => {
    const credentials = await readJson(req, parseRegister);
    await perAddress.consume(addressOf(req));
    res.status(201).json(publicAccount(await accounts.register(credentials, { address: addressOf(req) })));
  };
}

function mountTokens(router: Router, { accounts }: AccountDeps): void {
  const mailsPerAddress = new RateLimit(MAILS_PER_ADDRESS_MAX);
  const failuresPerAddress = new RateLimit(TOKEN_FAILURES_PER_ADDRESS_MAX);
  const sendToken = (kind: MailKind): RequestHandler => {
    const perAccount = new RateLimit(MAILS_PER_ACCOUNT_MAX);
    return async (req, res) => {
      const { email } = await readJson(req, parseEmail);
      const address = addressOf(req);
      // A caller over the limit gets the same answer, and no mail is sent.
      const isAllowed =
        (await mailsPerAddress.tryConsume(address)) && (await perAccount.tryConsume(accountKey(email)));
      await accounts.sendToken(kind, email, { isAllowed });
      res.status(202).json({ status: 'accepted' });
    };
  };
  /** Answers with the account. Counts invalid tokens. */
  const useToken = async (address: string, use: () => Promise<Account>, res: Response) => {
    await failuresPerAddress.require(address);
    const account = await use().catch(async (error: unknown) => {
      if (error instanceof RequestError && error.code === 'token_invalid')
        await failuresPerAddress.count(address);
      throw error;
    });
    res.json(publicAccount(account));
  };
  mount(router, '/v1/auth/request-verify-token', { post: sendToken('verify') });
  mount(router, '/v1/auth/forgot-password', { post: sendToken('reset') });
  mount(router, '/v1/auth/verify', {
    post: async (req, res) => {
      const { token } = await readJson(req, parseToken);
      await useToken(addressOf(req), () => accounts.verify(token, addressOf(req)), res);
    },
  });
  mount(router, '/v1/auth/reset-password', {
    post: async (req, res) => {
      const reset = await readJson(req, parseReset);
      await useToken(addressOf(req), () => accounts.resetPassword(reset, addressOf(req)), res);
    },
  });
}

function mountSessions(router: Router, { accounts, access, projects, dashboardUrl }: AccountDeps): void {
  mount(router, '/v1/auth/login', {
    post: async (req, res) => {
      const credentials = await readJson(req, parseLogin);
      const { account, secret } = await accounts.logIn(credentials, addressOf(req));
      setSessionCookie(res, secret, dashboardUrl);
      res.json(publicAccount(account));
    },
  });
  mount(router, '/v1/auth/logout', {
    post: async (req, res) => {
      await accounts.logOut(await access.requireSession(req), addressOf(req));
      setSessionCookie(res, undefined, dashboardUrl);
      res.status(204).end();
    },
  });
  mount(router, '/v1/auth/me', {
    get: async (req, res) => {
      const { account } = await access.requireSession(req);
      const own = await projects.listOf(account.id);
      res.json({ ...publicAccount(account), projects: own.map(({ id, name }) => ({ id, name })) });
    },
  });
}
