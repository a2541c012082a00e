import type { QueryParams } from '../store/connection.ts';
import { sql } from '../store/sql.ts';
import type { BoundedStore } from '../store/bounded-store.ts';
import { clickhouseTime, rfc3339FromClickhouse } from '../store/time.ts';
import type { AgentTool, AgentVersion } from './agent-version.ts';

type Row = Omit<AgentVersion, 'tools'> & { tools: string };

/** The versions of agents in the store. */
export class AgentStore {
  readonly #store: BoundedStore;

  constructor(store: BoundedStore) {
    this.#store = store;
  }

  /** One version, by default the latest. */
  async find(projectId: string, agentName: string, version?: number): Promise<AgentVersion | undefined> {
    const params = { project_id: projectId, agent_name: agentName, version: version ?? null };
    const [row] = await this.#query(sql('agent_version'), params);
    return row;
  }

  /** The latest version of each agent of a project, ordered by name. */
  list(projectId: string): Promise<AgentVersion[]> {
    return this.#query(sql('agents_of_project'), { project_id: projectId });
  }

  /** The latest version of every agent of every project, by its names. */
  all(): Promise<{ project_id: string; agent_name: string }[]> {
    return this.#store.query(sql('agents_latest'));
  }

  /** All versions of one agent, newest first, without their bundles and texts. */
  versions(projectId: string, agentName: string): Promise<AgentVersion[]> {
    return this.#query(sql('agent_versions'), { project_id: projectId, agent_name: agentName });
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

  async #query(text: string, params: QueryParams): Promise<AgentVersion[]> {
    const rows = await this.#store.query<Row>(text, params);
    return rows.map((row) => ({
      ...row,
      tools: JSON.parse(row.tools) as AgentTool[],
      created_at: rfc3339FromClickhouse(row.created_at),
      signed_at: rfc3339FromClickhouse(row.signed_at),
    }));
  }
}
