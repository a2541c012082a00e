import type { IncomingMessage } from 'node:http';
import { RequestError } from '../errors.ts';
import { type BearerKeys, type KeyIdentity, unauthenticated } from '../keys/bearer-keys.ts';
import { authenticate, hasBearerKey, requireToken } from './authenticate.ts';
import { hasRole, type Role, type Scope } from '../rights.ts';
import { requireOwnOrigin, sessionSecretOf } from './session-cookie.ts';

/** The author of an action: an account by its session, or a bearer key. Fields that do not apply are ''. */
export type Actor = { account_id: string; email: string; key_id: string };

/** The actor of something that no account or key did, such as a failed login or a command-line action. */
export const NO_ACTOR: Actor = { account_id: '', email: '', key_id: '' };

/** A valid session and its account. */
export type Session = {
  session_hash: string;
  account: { id: string; email: string; email_folded: string; is_verified: boolean; session_epoch: string };
};

/** A bearer key of any project with this scope. */
type KeyRule = { scope: Scope };

type MemberRule = {
  /** The lowest role of the members who may call. */
  role: Role;
  /** The parameter that names an account. That account may call in any role. */
  orSelf?: 'account_id';
};

/** A member, or a bearer key of the project with this scope. */
type ProjectRule = {
  role: Role;
  scope: Scope;
  /** Anyone may call, unless GATE_READ_AUTH=required. `named`: a caller with a valid credential is identified nevertheless. */
  open?: 'anonymous' | 'named';
};

/** Who may call an endpoint. A scraper needs the token of GATE_METRICS_TOKEN if one is set. */
export type Audience = 'anyone' | 'scraper' | 'session' | KeyRule | MemberRule | ProjectRule;

export type MemberCaller = { actor: Actor; role: Role };
/** Someone with a right in the project: a member, or a bearer key, which has no role. */
type ProjectCaller = { actor: Actor; role: Role | undefined; agents?: KeyIdentity['agents'] };

/** What an endpoint knows about its caller, which depends on its audience. */
export type CallerOf<A extends Audience> = A extends 'anyone' | 'scraper'
  ? undefined
  : A extends 'session'
    ? Session
    : A extends ProjectRule
      ? ProjectCaller
      : A extends MemberRule
        ? MemberCaller
        : KeyIdentity;

type Params = Record<string, string>;
type Caller = CallerOf<Audience>;
export type Identify = (req: IncomingMessage, params: Params) => Caller | Promise<Caller>;

/**
 * Returns the function that identifies the callers of an endpoint with this audience. It fails with unauthenticated, with
 * store_unavailable, or with forbidden: the credential lacks this right, or a browser sent the request from another site. Whether the
 * project exists makes no difference.
 */
export type Access = (allow: Audience) => Identify;

type AccessDeps = {
  findSession: (secret: string) => Promise<Session | undefined>;
  roleOf: (projectId: string, accountId: string) => Promise<Role | undefined>;
  bearerKeys: BearerKeys;
  dashboardUrl: string;
  readAuth: 'open' | 'required';
  metricsToken: string | undefined;
};

/** The caller of an open read, which needs no credential. */
const ANYONE: ProjectCaller = { actor: NO_ACTOR, role: undefined };

export function createAccess(deps: AccessDeps): Access {
  const { bearerKeys, dashboardUrl, readAuth, metricsToken } = deps;
  return (allow) => {
    if (allow === 'anyone')
      return (req) => {
        requireOwnOrigin(req, dashboardUrl);
        return undefined;
      };
    if (allow === 'scraper')
      return (req) => {
        if (metricsToken !== undefined) requireToken(req, metricsToken);
        return undefined;
      };
    if (allow === 'session') return (req) => requireSession(req, deps);
    if (!('role' in allow)) return (req) => requireKey(req, bearerKeys, allow.scope);
    if (!('scope' in allow)) return (req, params) => requireMember(req, params, { ...deps, rule: allow });
    if (allow.open === 'named' && readAuth === 'open') return (req) => identifyOpenly(req, deps);
    if (allow.open !== undefined && readAuth === 'open') return () => ANYONE;
    return (req, params) => requireMemberOrKey(req, params, { ...deps, rule: allow });
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
  params: Params,
  { rule, ...deps }: AccessDeps & { rule: MemberRule; needed?: string },
): Promise<MemberCaller> {
  const { account } = await requireSession(req, deps);
  const role = await deps.roleOf(params['id'] ?? '', account.id);
  if (role === undefined) throw noAccess();
  const isSelf = rule.orSelf !== undefined && params[rule.orSelf] === account.id;
  if (!isSelf && !hasRole(role, rule.role))
    throw new RequestError('forbidden', `This call needs the role ${rule.role}. Your role is ${role}`);
  return { actor: actorFrom(account), role };
}

async function requireMemberOrKey(
  req: IncomingMessage,
  params: Params,
  { rule, ...deps }: AccessDeps & { rule: ProjectRule },
): Promise<ProjectCaller> {
  // The key goes first: a client sends a header on purpose, a browser sends the cookie by itself.
  if (!hasBearerKey(req))
    return requireMember(req, params, {
      ...deps,
      rule: { role: rule.role },
      needed: 'a bearer key of the project, or a session',
    });
  const key = await authenticate(req, deps.bearerKeys);
  if (key.project_id !== params['id']) throw noAccess();
  const { key_id, agents } = withScope(key, rule.scope);
  return { actor: { ...NO_ACTOR, key_id }, role: undefined, agents };
}

/** The account or key of a caller who needs neither. A broken credential on an open read is ignored. */
async function identifyOpenly(req: IncomingMessage, deps: AccessDeps): Promise<ProjectCaller> {
  try {
    const actor = hasBearerKey(req)
      ? { ...NO_ACTOR, key_id: (await authenticate(req, deps.bearerKeys)).key_id }
      : actorFrom((await requireSession(req, deps)).account);
    return { actor, role: undefined };
  } catch {
    return ANYONE;
  }
}

/** Immediate if the key is in memory, as for most requests of the hot path. */
function requireKey(
  req: IncomingMessage,
  bearerKeys: BearerKeys,
  scope: Scope,
): KeyIdentity | Promise<KeyIdentity> {
  const key = authenticate(req, bearerKeys);
  return key instanceof Promise ? key.then((found) => withScope(found, scope)) : withScope(key, scope);
}

function withScope(key: KeyIdentity, scope: Scope): KeyIdentity {
  if (key.scopes.has(scope)) return key;
  throw new RequestError('forbidden', `The bearer key lacks the scope ${scope}`);
}

/** Throws forbidden if the caller is a bearer key that is restricted to other agents. */
export function requireAgent(caller: Caller, agentName: string): void {
  const agents = caller !== undefined && 'agents' in caller ? caller.agents : undefined;
  if (agents?.has(agentName) !== false) return;
  throw new RequestError('forbidden', 'The bearer key is limited to other agents');
}

export function actorFrom({ id, email }: { id: string; email: string }): Actor {
  return { account_id: id, email, key_id: '' };
}

/** The actor as one word, for records that keep no more. */
export function actorName({ email, key_id }: Actor): string {
  return key_id === '' ? email : `key ${key_id}`;
}

function noAccess(): RequestError {
  return new RequestError('forbidden', 'This credential has no access to this project');
}
