import { sql } from '../store/sql.ts';
import type { BoundedStore } from '../store/bounded-store.ts';
import { clickhouseTime, rfc3339FromClickhouse } from '../store/time.ts';
import type { AgentTool, AgentVersion } from './agent-version.ts';

export type AgentRow = Omit<AgentVersion, 'tools'> & { tools: string };

/** The versions of agents in the store. */
export class AgentStore {
  readonly #store: BoundedStore;

  constructor(store: BoundedStore) {
    this.#store = store;
  }

  /** One version, by default the latest. */
  async find(projectId: string, agentName: string, version?: number): Promise<AgentVersion | undefined> {
    const params = { project_id: projectId, agent_name: agentName, version: version ?? null };
    const [row] = await this.#store.query<AgentRow>(sql('agent_version'), params);
    return row && versionFrom(row);
  }

  /** The latest version of every agent of every project, by its names. */
  all(): Promise<{ project_id: string; agent_name: string }[]> {
    return this.#store.query(sql('agents_latest'));
  }

  /**
   * Resolves when a version with this number is durable: this one, or one that another process saved first. The token
   * makes the store keep only the first insert of a number, and of each later signature; `find` returns the first number
   * with its latest signature.
   */
  async insert(version: AgentVersion): Promise<void> {
    const values = {
      ...version,
      tools: JSON.stringify(version.tools),
      created_at: clickhouseTime(Date.parse(version.created_at)),
      signed_at: clickhouseTime(Date.parse(version.signed_at)),
    };
    const { project_id, agent_name, version: number, created_at, signed_at } = version;
    const again = signed_at === created_at ? [] : [version.agent_version_id, signed_at];
    const token = JSON.stringify([project_id, agent_name, number, ...again]);
    await this.#store.append({ table: 'agent_versions', values, token });
  }
}

export function versionFrom(row: AgentRow): AgentVersion {
  return {
    ...row,
    tools: JSON.parse(row.tools) as AgentTool[],
    created_at: rfc3339FromClickhouse(row.created_at),
    signed_at: rfc3339FromClickhouse(row.signed_at),
  };
}
