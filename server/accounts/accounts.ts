import type { RecordActivity } from '../activity/activity.ts';
import { BoundedQueue } from '../bounded-queue.ts';
import { RequestError } from '../errors.ts';
import { TOKEN_USES_RUNNING_MAX, TOKEN_USES_WAIT_MS_MAX, TOKEN_USES_WAITING_MAX } from '../limits.ts';
import type { Projects } from '../projects/projects.ts';
import { actorFrom, NO_ACTOR, type Session } from '../access/access.ts';
import type { Account, AccountStore } from './account-store.ts';
import type { Dispossess } from './dispossess.ts';
import type { LoginLimits } from './login-limits.ts';
import type { MailedTokens } from './mailed-tokens.ts';
import { BEHIND_LOGINS, type Hashing, type Passwords } from './passwords.ts';
import type { Credentials } from './credentials.ts';
import type { SessionOrigin, Sessions } from './sessions.ts';

type AccountsDeps = {
  store: AccountStore;
  passwords: Passwords;
  tokens: MailedTokens;
  sessions: Sessions;
  limits: LoginLimits;
  projects: Projects;
  dispossess: Dispossess;
  /** Whether members without an account can be added. */
  invites: boolean;
  recordActivity: RecordActivity;
};

const FIRST_PROJECT = 'My project';

/** The operations on accounts. `address` is the caller's network address. */
export class Accounts {
  readonly #deps: AccountsDeps;
  /** Bounds the uses of mailed tokens, each of which costs the store several statements. */
  readonly #tokenUses = new BoundedQueue({
    runningMax: TOKEN_USES_RUNNING_MAX,
    waitingMax: TOKEN_USES_WAITING_MAX,
    waitMsMax: TOKEN_USES_WAIT_MS_MAX,
    yields: true,
  });

  constructor(deps: AccountsDeps) {
    this.#deps = deps;
  }

  /** Creates the account and its first project. Rejects with conflict when the e-mail is taken. */
  async register(
    { email, password }: Credentials,
    { address, projectName = FIRST_PROJECT }: { address: string; projectName?: string },
  ): Promise<Account> {
    const { store, passwords, recordActivity } = this.#deps;
    const account = await passwords.run(
      (hashing) => store.register(email, () => hashing.hash(password)),
      BEHIND_LOGINS,
    );
    if (account === undefined)
      throw new RequestError('conflict', 'An account with this e-mail already exists');
    await this.ensureProject(account, address, projectName);
    await recordActivity({ event: 'account_registered', actor: actorFrom(account), address });
    return account;
  }

  /**
   * The account that may become a member: one whose address is verified. If invitations are allowed, also an account that nobody can have
   * signed in to yet. It is created here, and its owner chooses a password through a mail. Undefined for others.
   */
  async findInvitee(email: string, address: string): Promise<Account | undefined> {
    const { store, invites, recordActivity } = this.#deps;
    const found = await store.find(email);
    // Anyone can register an address that is not theirs, so an unverified one gives no access.
    if (found?.is_verified === true) return found;
    if (!invites || (found !== undefined && found.password_hash !== '')) return undefined;
    if (found !== undefined) return found;
    const account = await store.register(email, () => Promise.resolve(''));
    // Another project has just invited this person.
    if (account === undefined) return this.findInvitee(email, address);
    const detail = { by: 'invitation' };
    await recordActivity({ event: 'account_registered', actor: actorFrom(account), address, detail });
    return account;
  }

  async verify(token: string, address: string): Promise<Account> {
    const { store, tokens, recordActivity } = this.#deps;
    const account = await this.#tokenUses.run(() =>
      tokens.useVerify(token, async (owner) => {
        await store.setVerified(owner);
        await recordActivity({ event: 'email_verified', actor: actorFrom(owner), address });
      }),
    );
    return { ...account, is_verified: true };
  }

  /**
   * Ends all sessions of the account. If its address was not verified before, its projects also lose their keys, webhooks and other
   * members, because a stranger may have registered it.
   */
  async resetPassword(
    { token, password }: { token: string; password: string },
    address: string,
  ): Promise<Account> {
    const { store, tokens, passwords, limits, dispossess, recordActivity } = this.#deps;
    const account = await this.#tokenUses.run(() => tokens.findReset(token));
    // The address of an invited person was never anybody else's.
    const isInvited = account.password_hash === '' && !account.is_verified;
    const prepare = async () => {
      const hashed = await passwords.run((hashing) => hashing.hash(password));
      // Called twice: before, so that a failure can be retried, and after, to cover sessions created in between.
      if (!account.is_claimed) await dispossess(account, address);
      // Recorded before the password is stored: storing it uses up the token, so a later failure could not be retried.
      await recordActivity({ event: 'password_reset', actor: actorFrom(account), address });
      return hashed;
    };
    let hash: Promise<string> | undefined;
    const setPassword = (found: Account) =>
      store.setPassword(found, 'password_set', () => (hash ??= prepare()), { isVerified: isInvited });
    // A stranger who keeps changing the password does not keep the owner of the address out: the token is still valid.
    for (let found = account; (await setPassword(found)) === undefined;)
      found = await tokens.findReset(token);
    if (!account.is_claimed) await dispossess(account, address);
    // The new password already stops an attacker who was guessing; its owner must not stay locked out.
    await limits.succeeded({ email: account.email_folded, address });
    return isInvited ? { ...account, is_verified: true } : account;
  }

  /** Resolves with the account and the session secret for the cookie. Rejects with unauthenticated or rate_limited. */
  logIn(
    { email, password }: Credentials,
    origin: SessionOrigin,
  ): Promise<{ account: Account; secret: string }> {
    const { store, passwords, sessions, limits, recordActivity } = this.#deps;
    const { address } = origin;
    return limits.inTurn({ email, address }, async (attempt) => {
      const compare = async (hashing: Hashing) => {
        const found = await store.find(email);
        return { found, isRight: await attempt(() => hashing.matches(password, found?.password_hash)) };
      };
      const { found: account, isRight } = await passwords.run(compare, await limits.priorityOf(address));
      if (!isRight || account === undefined) {
        await recordActivity({
          event: 'login_failed',
          actor: account === undefined ? NO_ACTOR : actorFrom(account),
          address,
        });
        throw new RequestError('unauthenticated', 'Wrong e-mail or password');
      }
      await this.ensureProject(account, address);
      const secret = await sessions.open(account, origin);
      await recordActivity({ event: 'login', actor: actorFrom(account), address });
      return { account, secret };
    });
  }

  /** Ends the other sessions of the account. Rejects with forbidden when the password is wrong. */
  changePassword(
    { session_hash, account: { email } }: Session,
    { password, new_password }: { password: string; new_password: string },
    address: string,
  ): Promise<void> {
    const { store, passwords, sessions, limits, recordActivity } = this.#deps;
    return limits.inTurn({ email, address }, async (attempt) => {
      const account = await store.find(email);
      if (account === undefined) throw new RequestError('forbidden', 'The account has no password');
      const isRight = await passwords.run((hashing) =>
        attempt(() => hashing.matches(password, account.password_hash)),
      );
      if (!isRight) {
        await recordActivity({ event: 'login_failed', actor: actorFrom(account), address });
        throw new RequestError('forbidden', 'The current password is wrong');
      }
      const epoch = await store.setPassword(account, 'password_changed', () =>
        passwords.run((hashing) => hashing.hash(new_password)),
      );
      if (epoch === undefined) throw new RequestError('conflict', 'The password has just been changed');
      await sessions.carryOver(session_hash, epoch);
      await recordActivity({ event: 'password_changed', actor: actorFrom(account), address });
    });
  }

  /** False when the account has no session with this id. */
  async endSession(session: Session, id: string, address: string): Promise<boolean> {
    const isEnded = await this.#deps.sessions.endOne(session, id);
    const entry = { event: 'sessions_ended', actor: actorFrom(session.account), address } as const;
    if (isEnded) await this.#deps.recordActivity(entry);
    return isEnded;
  }

  async endOtherSessions(session: Session, address: string): Promise<void> {
    await this.#deps.sessions.endOthers(session);
    await this.#deps.recordActivity({ event: 'sessions_ended', actor: actorFrom(session.account), address });
  }

  async logOut(session: Session, address: string): Promise<void> {
    const { sessions, recordActivity } = this.#deps;
    await sessions.end(session);
    await recordActivity({ event: 'logout', actor: actorFrom(session.account), address });
  }

  /**
   * Creates the first project of an account that has none. Also called at login, because a registration may have failed between the account
   * and its project. An account that left the project it created gets no new one: it would still own the name.
   */
  async ensureProject(account: Account, address: string, name = FIRST_PROJECT): Promise<void> {
    const { projects, recordActivity } = this.#deps;
    const { id } = account;
    if ((await projects.listOf(id)).length > 0 || (await projects.madeBy(id)).length > 0) return;
    const project = await projects.create(name, id).catch((error: unknown) => {
      // Another sign-in has just created it.
      if (!(error instanceof RequestError && error.code === 'conflict')) throw error;
    });
    if (project === undefined) return;
    const entry = { event: 'project_created', project_id: project.id, detail: { name } } as const;
    await recordActivity({ ...entry, actor: actorFrom(account), address });
  }
}
