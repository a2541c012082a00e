import type { IncomingMessage } from 'node:http';
import { RequestError } from '../errors.ts';
import { authenticate } from './authenticate.ts';
import { requireOwnOrigin, sessionSecretOf } from './session-cookie.ts';
import { type BearerKeys, unauthenticated } from '../keys/bearer-keys.ts';
import type { Projects } from '../projects/projects.ts';
import type { Account } from '../accounts/account-store.ts';
import type { Session, Sessions } from '../accounts/sessions.ts';

const KEY_OR_SESSION = 'a bearer key of the project, or a session';

/** Who does something: an account by its session, or a bearer key. What does not apply is ''. */
export type Actor = { account_id: string; email: string; key_id: string };

/** The actor of something that no account and no key did, such as a failed login or the command line. */
export const NO_ACTOR: Actor = { account_id: '', email: '', key_id: '' };

/** A key's scope, where one is asked for. */
export type Scope = 'read_audit' | 'emit_audit';

/**
 * Who may do what to a project. All reject with unauthenticated (no credential that counts), forbidden (one without
 * that right, or a state-changing call by cookie from a foreign Origin; whether or not the project exists), or
 * store_unavailable.
 */
export type Access = {
  /** Undefined without a session that counts. */
  sessionOf(req: IncomingMessage): Promise<Session | undefined>;
  requireSession(req: IncomingMessage): Promise<Session>;
  /** The session of a member of the project; a bearer key is not enough. */
  requireMember(req: IncomingMessage, projectId: string): Promise<Account>;
  /** A bearer key of the project, with that scope if one is named, or the session of a member. */
  requireMemberOrKey(req: IncomingMessage, projectId: string, scope?: Scope): Promise<Actor>;
};

type AccessDeps = { sessions: Sessions; projects: Projects; bearerKeys: BearerKeys; dashboardUrl: string };

export function createAccess({ sessions, projects, bearerKeys, dashboardUrl }: AccessDeps): Access {
  const sessionOf = async (req: IncomingMessage) => {
    requireOwnOrigin(req, dashboardUrl);
    const secret = sessionSecretOf(req);
    return secret === undefined ? undefined : sessions.find(secret);
  };
  const requireSession = async (req: IncomingMessage, what = 'a session') => {
    const session = await sessionOf(req);
    if (session !== undefined) return session;
    if (hasBearerKey(req)) {
      await authenticate(req, bearerKeys);
      throw new RequestError('forbidden', 'A bearer key may not do this; it takes the session of a member');
    }
    throw unauthenticated(`This takes ${what}: log in with POST /v1/auth/login`);
  };
  const requireMember = async (req: IncomingMessage, projectId: string, what?: string) => {
    const { account } = await requireSession(req, what);
    if (await projects.isMember(projectId, account.id)) return account;
    throw forbidden();
  };
  const requireMemberOrKey = async (req: IncomingMessage, projectId: string, scope?: Scope) => {
    // A header is sent on purpose, a cookie by itself: the key goes first.
    if (!hasBearerKey(req)) return actorFrom(await requireMember(req, projectId, KEY_OR_SESSION));
    const key = await authenticate(req, bearerKeys);
    const hasScope = scope === undefined || key.scope.split(' ').includes(scope);
    if (key.project_id !== projectId || !hasScope) throw forbidden();
    return { ...NO_ACTOR, key_id: key.key_id };
  };
  return { sessionOf, requireSession, requireMember, requireMemberOrKey };
}

export function actorFrom({ id, email }: Account): Actor {
  return { account_id: id, email, key_id: '' };
}

/** Who did it, in a word, for records that keep no more. */
export function actorName({ email, key_id }: Actor): string {
  return key_id === '' ? email : `key ${key_id}`;
}

/** Another scheme, such as a proxy's Basic, is none of ours. */
function hasBearerKey(req: IncomingMessage): boolean {
  return /^Bearer\b/i.test(req.headers.authorization ?? '');
}

function forbidden(): RequestError {
  return new RequestError('forbidden', 'This credential has no right to this project');
}
