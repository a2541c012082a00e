import { randomUUID } from 'node:crypto';
import type { Connection } from '../store/connection.ts';
import { sql } from '../store/sql.ts';
import { clickhouseTime, rfc3339FromClickhouse } from '../store/time.ts';

export type Project = { id: string; name: string; created_at: string };

type ProjectsOptions = { connection: Connection; ready: () => Promise<void>; now: () => number };
const COLUMNS = ['project_id', 'name', 'created_at'] as const;

/** The projects of the store. */
export class Projects {
  readonly #options: ProjectsOptions;

  constructor(options: ProjectsOptions) {
    this.#options = options;
  }

  async create(name: string): Promise<Project> {
    const { connection, ready, now } = this.#options;
    const nowMs = now();
    const project = { id: randomUUID(), name, created_at: new Date(nowMs).toISOString() };
    const line = JSON.stringify([project.id, name, clickhouseTime(nowMs)]);
    await ready();
    await connection.insert({ table: 'projects', columns: COLUMNS, lines: [line], token: '' });
    return project;
  }

  async list(): Promise<Project[]> {
    await this.#options.ready();
    const rows = await this.#options.connection.query<Project>(sql('projects'));
    return rows.map((row) => ({ ...row, created_at: rfc3339FromClickhouse(row.created_at) }));
  }
}
