import type { Role } from '../rights.ts';
import { RequestError } from '../errors.ts';
import type { KeyedMutex } from '../keyed-mutex.ts';
import type { BoundedStore } from '../store/bounded-store.ts';
import { changeInTurn } from '../store/change-in-turn.ts';
import { sql } from '../store/sql.ts';
import { clickhouseTime, rfc3339FromClickhouse } from '../store/time.ts';

export type Member = { account_id: string; role: Role; added_at: string };

/** `changedBy` says who changes it: an account id, '' on the command line. */
type Membership = { projectId: string; accountId: string; changedBy: string; byGroup?: boolean };
/** The role that an account gets, undefined for none, given its own and that of `changedBy`. Throws to refuse. */
export type Change = (held: Role | undefined, changers: Role | undefined) => Role | undefined;
/** The role of an account before and after a change. */
export type RoleChange = Record<'before' | 'role', Role | undefined>;
type Newest = { project_version: string; by_group: number };
type MembersOptions = { store: BoundedStore; mutex: KeyedMutex; now: () => number };

/** The members of projects and their roles. The account that made a project is its first owner. */
export class Members {
  readonly #options: MembersOptions;

  constructor(options: MembersOptions) {
    this.#options = options;
  }

  /** Undefined when the account is not a member, or the project does not exist. */
  async roleOf(projectId: string, accountId: string): Promise<Role | undefined> {
    const params = { project_id: projectId, account_id: accountId };
    const [row] = await this.#options.store.query<{ role: Role }>(sql('project_role'), params);
    return row?.role;
  }

  /** Owners first, then the others in the order in which they were added. */
  async list(projectId: string): Promise<Member[]> {
    const rows = await this.#options.store.query<Member>(sql('project_members'), { project_id: projectId });
    return rows.map(({ added_at, ...row }) => ({ ...row, added_at: rfc3339FromClickhouse(added_at) }));
  }

  /**
   * Gives an account a role, removes it, or changes it. Changes of one project run one after the other, in all processes. Rejects with
   * conflict instead of removing the role of the last owner.
   */
  change(membership: Membership, change: Change): Promise<RoleChange> {
    const { projectId, accountId, changedBy } = membership;
    return changeInTurn(this.#options, `members:${projectId}`, async () => {
      const newest = await this.#newest(membership);
      const list = await this.list(projectId);
      const memberOf = (id: string) => list.find(({ account_id }) => account_id === id);
      const held = memberOf(accountId);
      const before = held?.role;
      const role = change(before, memberOf(changedBy)?.role);
      const result = { before, role };
      if (role === before) return { result };
      if (before === 'owner' && !list.some((one) => one.role === 'owner' && one !== held))
        throw new RequestError('conflict', 'A project needs an owner, and this member is the last one');
      const values = this.#rowOf(membership, { held, role, newest });
      return { result, change: { table: 'project_members', values, after: Number(newest.project_version) } };
    });
  }

  /**
   * Gives an account the roles that its groups at the provider give, by project. Ends memberships that came from a group and are no longer
   * given. Memberships that members gave stay, and so does the last owner of a project.
   */
  async setByGroups(
    accountId: string,
    roles: ReadonlyMap<string, Role>,
    onChange: (projectId: string, change: RoleChange) => Promise<void>,
  ): Promise<void> {
    const rows = await this.#options.store.query<{ project_id: string }>(sql('memberships_by_group'), {
      account_id: accountId,
    });
    const given = new Set(rows.map(({ project_id }) => project_id));
    for (const projectId of new Set([...given, ...roles.keys()])) {
      const membership = { projectId, accountId, changedBy: '', byGroup: true };
      const change: Change = (held) =>
        held === undefined || given.has(projectId) ? roles.get(projectId) : held;
      const changed = await this.change(membership, change).catch((error: unknown) => {
        if (!(error instanceof RequestError && error.code === 'conflict')) throw error;
      });
      if (changed !== undefined) await onChange(projectId, changed);
    }
  }

  async #newest({ projectId, accountId }: Membership): Promise<Newest> {
    const params = { account_id: accountId, project_id: projectId };
    const [row] = await this.#options.store.query<Newest>(sql('project_member_version'), params);
    return row as Newest;
  }

  #rowOf(
    { projectId, accountId, changedBy, byGroup = false }: Membership,
    { held, role, newest }: { held: Member | undefined; role: Role | undefined; newest: Newest },
  ) {
    const nowMs = this.#options.now();
    // A changed role does not make a membership outlive the group that gave it.
    const isFromGroup = held !== undefined && newest.by_group === 1;
    return {
      account_id: accountId,
      project_id: projectId,
      is_member: role === undefined ? 0 : 1,
      // Never '': an empty role marks a row from before roles.
      role: role ?? held?.role,
      changed_by: changedBy,
      by_group: role !== undefined && (byGroup || isFromGroup) ? 1 : 0,
      changed_at: clickhouseTime(nowMs),
      added_at: clickhouseTime(held === undefined ? nowMs : Date.parse(held.added_at)),
      // A later change gets a higher version even if another process's clock is ahead.
      version: Math.max(nowMs, Number(newest.project_version) + 1),
    };
  }
}

/** The activity that describes a change. Undefined: nothing changed. */
export function memberEntry(account: { account_id: string; email?: string }, { before, role }: RoleChange) {
  if (before === role) return undefined;
  if (before === undefined) return { event: 'member_added' as const, detail: { ...account, role } };
  if (role === undefined) return { event: 'member_removed' as const, detail: account };
  return { event: 'member_role_changed' as const, detail: { ...account, before, role } };
}
