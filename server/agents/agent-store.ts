import type { Connection, QueryParams } from '../store/connection.ts';
import { sql } from '../store/sql.ts';
import { clickhouseTime, rfc3339FromClickhouse } from '../store/time.ts';
import type { AgentTool, AgentVersion } from './agent-version.ts';

type Row = Omit<AgentVersion, 'tools'> & { tools: string };

const COLUMNS = [
  'project_id',
  'agent_name',
  'version',
  'created_at',
  'agent_version_id',
  'agent_id',
  'created_by',
  'tools',
  'agent_yaml',
  'policy_yaml',
  'system_md',
  'bundle_wasm_b64',
  'bundle_manifest',
  'bundle_signature_b64',
  'etag',
] as const satisfies readonly (keyof AgentVersion)[];

/** The versions of agents in the store. */
export class AgentStore {
  readonly #connection: Connection;
  readonly #ready: () => Promise<void>;

  constructor({ connection, ready }: { connection: Connection; ready: () => Promise<void> }) {
    this.#connection = connection;
    this.#ready = ready;
  }

  /** One version, the latest when no number is given; undefined when there is none. */
  async find(projectId: string, agentName: string, version?: number): Promise<AgentVersion | undefined> {
    const params = { project_id: projectId, agent_name: agentName, version: version ?? null };
    const [row] = await this.#query(sql('agent_version'), params);
    return row;
  }

  /** The latest version of each agent of a project, by name. */
  list(projectId: string): Promise<AgentVersion[]> {
    return this.#query(sql('agents_of_project'), { project_id: projectId });
  }

  /** All versions of one agent, newest first, without their bundles and texts. */
  versions(projectId: string, agentName: string): Promise<AgentVersion[]> {
    return this.#query(sql('agent_versions'), { project_id: projectId, agent_name: agentName });
  }

  /**
   * Resolves when a version with this number is durable: this one, or that of another process that was faster. The
   * token makes the store keep the first insert of a number; `find` tells whose it was.
   */
  async insert(version: AgentVersion): Promise<void> {
    const row = {
      ...version,
      tools: JSON.stringify(version.tools),
      created_at: clickhouseTime(Date.parse(version.created_at)),
    };
    const { project_id, agent_name } = version;
    const token = JSON.stringify([project_id, agent_name, version.version]);
    await this.#ready();
    const lines = [JSON.stringify(COLUMNS.map((column) => row[column]))];
    await this.#connection.insert({ table: 'agent_versions', columns: COLUMNS, lines, token });
  }

  async #query(text: string, params: QueryParams): Promise<AgentVersion[]> {
    await this.#ready();
    const rows = await this.#connection.query<Row>(text, params);
    return rows.map((row) => ({
      ...row,
      tools: JSON.parse(row.tools) as AgentTool[],
      created_at: rfc3339FromClickhouse(row.created_at),
    }));
  }
}
