import { randomUUID } from 'node:crypto';
import { RequestError } from '../errors.ts';
import type { KeyedMutex } from '../keyed-mutex.ts';
import { claim } from '../store/claim.ts';
import type { QueryParams } from '../store/bind-params.ts';
import { sql } from '../store/sql.ts';
import { clickhouseTime, rfc3339FromClickhouse } from '../store/time.ts';
import type { BoundedStore } from '../store/bounded-store.ts';

export type Project = { id: string; name: string; created_at: string };
export type Member = { account_id: string; is_owner: boolean; added_at: string };

type MemberRow = { account_id: string; is_owner: number; added_at: string };
type Membership = { projectId: string; accountId: string; isMember: boolean; changedBy: string };
type ProjectsOptions = { store: BoundedStore; mutex: KeyedMutex; now: () => number };

/** The projects in the store and their members. Project names are unique per owner, without regard to case. */
export class Projects {
  readonly #options: ProjectsOptions;

  constructor(options: ProjectsOptions) {
    this.#options = options;
  }

  /** Rejects with conflict when the owner already has a project with this name. `ownerId` is '' on the command line. */
  async create(name: string, ownerId = ''): Promise<Project> {
    const { store, mutex, now } = this.#options;
    const id = randomUUID();
    const name_folded = name.normalize('NFKC').toLowerCase();
    const holder = await claim(mutex, `project:${ownerId}:${name_folded}`, {
      find: async () => (await this.#query('project_by_name', { owner_id: ownerId, name_folded }))[0],
      write: async (token) => {
        const values = {
          project_id: id,
          name,
          created_at: clickhouseTime(now()),
          owner_id: ownerId,
          name_folded,
        };
        await store.append({ table: 'projects', values, token });
      },
    });
    if (holder.id !== id) throw new RequestError('conflict', 'You already have a project with this name');
    return holder;
  }

  list(): Promise<Project[]> {
    return this.#query('projects');
  }

  listOf(accountId: string): Promise<Project[]> {
    return this.#query('projects_of_account', { account_id: accountId });
  }

  /** False for a project that does not exist. */
  async isMember(projectId: string, accountId: string): Promise<boolean> {
    const params = { project_id: projectId, account_id: accountId };
    return (await this.#options.store.query(sql('project_membership'), params)).length > 0;
  }

  /** The owner first, then the others in the order in which they were added. */
  async members(projectId: string): Promise<Member[]> {
    const rows = await this.#options.store.query<MemberRow>(sql('project_members'), {
      project_id: projectId,
    });
    return rows.map(({ account_id, is_owner, added_at }) => ({
      account_id,
      is_owner: is_owner === 1,
      added_at: rfc3339FromClickhouse(added_at),
    }));
  }

  /** A later change gets a higher version even if another process's clock is ahead. */
  async setMember({ projectId, accountId, isMember, changedBy }: Membership): Promise<void> {
    const { store, now } = this.#options;
    const pair = { account_id: accountId, project_id: projectId };
    const [newest] = await store.query<{ version: string }>(sql('project_member_version'), pair);
    const nowMs = now();
    const values = {
      ...pair,
      is_member: isMember ? 1 : 0,
      changed_by: changedBy,
      changed_at: clickhouseTime(nowMs),
      version: Math.max(nowMs, Number(newest?.version ?? 0) + 1),
    };
    await store.append({ table: 'project_members', values });
  }

  async #query(name: string, params?: QueryParams): Promise<Project[]> {
    const rows = await this.#options.store.query<Project>(sql(name), params);
    return rows.map((row) => ({ ...row, created_at: rfc3339FromClickhouse(row.created_at) }));
  }
}
