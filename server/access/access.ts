import type { IncomingMessage } from 'node:http';
import { RequestError } from '../errors.ts';
import { type BearerKeys, type KeyIdentity, unauthenticated } from '../keys/bearer-keys.ts';
import { authenticate, hasBearerKey, requireToken } from './authenticate.ts';
import { requireOwnOrigin, sessionSecretOf } from './session-cookie.ts';

/** Who did something: an account by its session, or a bearer key. Fields that do not apply are ''. */
export type Actor = { account_id: string; email: string; key_id: string };

/** The actor of something that no account and no key did, such as a failed login or the command line. */
export const NO_ACTOR: Actor = { account_id: '', email: '', key_id: '' };

/** A right that a bearer key may hold. */
export type Scope = 'read_audit' | 'emit_audit';

/** A valid session and its account. */
export type Session = {
  session_hash: string;
  account: { id: string; email: string; email_folded: string; is_verified: boolean; session_epoch: string };
};

/**
 * What an endpoint learns about its caller, by who may call it. A reader needs a credential only with
 * GATE_READ_AUTH=required: the session of a member, or a bearer key with `read_audit`. A scraper needs the token of
 * GATE_METRICS_TOKEN, if there is one.
 */
export type Callers = {
  anyone: undefined;
  key: KeyIdentity;
  session: Session;
  member: Actor;
  'member or key': Actor;
  reader: undefined;
  scraper: undefined;
};

export type Audience = keyof Callers;

/**
 * Identifies the caller of an endpoint, by who may call it. All of these fail with unauthenticated, with forbidden (the
 * credential lacks this right, or a browser sent the request from another site; whether or not the project exists), or
 * with store_unavailable.
 */
export type Access = {
  [A in Audience]: (req: IncomingMessage, projectId: string) => Callers[A] | Promise<Callers[A]>;
};

type AccessDeps = {
  findSession: (secret: string) => Promise<Session | undefined>;
  isMember: (projectId: string, accountId: string) => Promise<boolean>;
  bearerKeys: BearerKeys;
  dashboardUrl: string;
  readAuth: 'open' | 'required';
  metricsToken: string | undefined;
};

export function createAccess(deps: AccessDeps): Access {
  const { bearerKeys, dashboardUrl, readAuth, metricsToken } = deps;
  return {
    anyone: (req) => {
      requireOwnOrigin(req, dashboardUrl);
      return undefined;
    },
    key: (req) => authenticate(req, bearerKeys),
    session: (req) => requireSession(req, deps),
    member: (req, projectId) => requireMember(req, projectId, deps),
    'member or key': (req, projectId) => requireMemberOrKey(req, projectId, deps),
    reader: async (req, projectId) => {
      if (readAuth === 'required') await requireMemberOrKey(req, projectId, { ...deps, scope: 'read_audit' });
      return undefined;
    },
    scraper: (req) => {
      if (metricsToken !== undefined) requireToken(req, metricsToken);
      return undefined;
    },
  };
}

async function requireSession(
  req: IncomingMessage,
  { findSession, bearerKeys, dashboardUrl, needed = 'a session' }: AccessDeps & { needed?: string },
): Promise<Session> {
  requireOwnOrigin(req, dashboardUrl);
  const secret = sessionSecretOf(req);
  const session = secret === undefined ? undefined : await findSession(secret);
  if (session !== undefined) return session;
  if (!hasBearerKey(req)) throw unauthenticated(`This call needs ${needed}. Log in with POST /v1/auth/login`);
  await authenticate(req, bearerKeys);
  throw new RequestError('forbidden', 'This call needs the session of a member. A bearer key is not enough');
}

async function requireMember(
  req: IncomingMessage,
  projectId: string,
  deps: AccessDeps & { needed?: string },
): Promise<Actor> {
  const { account } = await requireSession(req, deps);
  if (!(await deps.isMember(projectId, account.id))) throw forbidden();
  return actorFrom(account);
}

async function requireMemberOrKey(
  req: IncomingMessage,
  projectId: string,
  { scope, ...deps }: AccessDeps & { scope?: Scope },
): Promise<Actor> {
  // The key goes first: a client sends a header on purpose, a browser sends the cookie by itself.
  if (!hasBearerKey(req))
    return requireMember(req, projectId, { ...deps, needed: 'a bearer key of the project, or a session' });
  const key = await authenticate(req, deps.bearerKeys);
  const hasScope = scope === undefined || key.scope.split(' ').includes(scope);
  if (key.project_id !== projectId || !hasScope) throw forbidden();
  return { ...NO_ACTOR, key_id: key.key_id };
}

export function actorFrom({ id, email }: { id: string; email: string }): Actor {
  return { account_id: id, email, key_id: '' };
}

/** The actor as one word, for records that keep no more. */
export function actorName({ email, key_id }: Actor): string {
  return key_id === '' ? email : `key ${key_id}`;
}

function forbidden(): RequestError {
  return new RequestError('forbidden', 'This credential has no access to this project');
}
