import { randomUUID } from 'node:crypto';
import { RequestError } from '../errors.ts';
import type { KeyedMutex } from '../keyed-mutex.ts';
import { claim } from '../store/claim.ts';
import type { QueryParams } from '../store/bind-params.ts';
import { sql } from '../store/sql.ts';
import { clickhouseTime, rfc3339FromClickhouse } from '../store/time.ts';
import type { BoundedStore } from '../store/bounded-store.ts';

export type Project = { id: string; name: string; created_at: string };
type ProjectsOptions = { store: BoundedStore; mutex: KeyedMutex; now: () => number };

/** The projects in the store. Project names are unique per owner, without regard to case. */
export class Projects {
  readonly #options: ProjectsOptions;

  constructor(options: ProjectsOptions) {
    this.#options = options;
  }

  /** Rejects with conflict if the owner already has a project with this name. `ownerId` is '' on the command line. */
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

  async find(projectId: string): Promise<Project | undefined> {
    return (await this.#query('project_by_id', { project_id: projectId }))[0];
  }

  list(): Promise<Project[]> {
    return this.#query('projects');
  }

  listOf(accountId: string): Promise<Project[]> {
    return this.#query('projects_of_account', { account_id: accountId });
  }

  madeBy(accountId: string): Promise<Project[]> {
    return this.#query('projects_made_by', { account_id: accountId });
  }

  async #query(name: string, params?: QueryParams): Promise<Project[]> {
    const rows = await this.#options.store.query<Project>(sql(name), params);
    return rows.map((row) => ({ ...row, created_at: rfc3339FromClickhouse(row.created_at) }));
  }
}
