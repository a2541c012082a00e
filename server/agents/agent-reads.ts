import type { RunRead } from '../store/read-pool.ts';
import { sql } from '../store/sql.ts';
import { rfc3339FromClickhouse } from '../store/time.ts';
import { type AgentRow, versionFrom } from './agent-store.ts';
import type { AgentTool, AgentVersion, VersionFacts } from './agent-version.ts';

type Read = { projectId: string; runRead: RunRead; signal: AbortSignal };
type OfAgent = Read & { agentName: string };

/** The size of the first and of later pages of agents: their number, and roughly the bytes of their tools. */
const PAGE = { first: 50, rowsMax: 500, bytesMax: 1024 * 1024 };

/** The latest version of each agent of a project, ordered by name. Paged, because the tools of one agent may have 1 MB. */
export async function* readAgents({
  projectId,
  runRead,
  signal,
}: Read): AsyncGenerator<(VersionFacts & { tools: AgentTool[] })[]> {
  const params = { project_id: projectId, after: '', page_rows: PAGE.first, page_bytes: PAGE.bytesMax };
  for (;;) {
    const rows = await runRead<VersionFacts & { tools: string }>(sql('agents_of_project'), params, signal);
    const last = rows.at(-1);
    if (last === undefined) return;
    yield rows.map((row) => ({ ...factsFrom(row), tools: JSON.parse(row.tools) as AgentTool[] }));
    // The engine reads the tools of all agents that may be on the page.
    params.page_rows = Math.min(2 * rows.length, PAGE.rowsMax);
    params.after = last.agent_name;
  }
}

/** All versions of one agent, newest first. */
export async function readVersions({
  projectId,
  agentName,
  runRead,
  signal,
}: OfAgent): Promise<VersionFacts[]> {
  const params = { project_id: projectId, agent_name: agentName };
  const rows = await runRead<VersionFacts>(sql('agent_versions'), params, signal);
  return rows.map(factsFrom);
}

/** One version with its texts and its bundle. */
export async function readVersion(
  version: number,
  { projectId, agentName, runRead, signal }: OfAgent,
): Promise<AgentVersion | undefined> {
  const params = { project_id: projectId, agent_name: agentName, version };
  const [row] = await runRead<AgentRow>(sql('agent_version'), params, signal);
  return row && versionFrom(row);
}

function factsFrom(row: VersionFacts): VersionFacts {
  return { ...row, created_at: rfc3339FromClickhouse(row.created_at) };
}
