import type { RunRead } from '../store/read-pool.ts';
import { sql } from '../store/sql.ts';
import { rfc3339FromClickhouse } from '../store/time.ts';
import { type AgentRow, versionFrom } from './agent-store.ts';
import type { AgentTool, AgentVersion, VersionFacts } from './agent-version.ts';

type Read = { projectId: string; runRead: RunRead; signal: AbortSignal };
type OfAgent = Read & { agentName: string };

/** The latest version of each agent of a project, ordered by name. */
export async function readAgents({
  projectId,
  runRead,
  signal,
}: Read): Promise<(VersionFacts & { tools: AgentTool[] })[]> {
  const params = { project_id: projectId };
  const rows = await runRead<VersionFacts & { tools: string }>(sql('agents_of_project'), params, signal);
  return rows.map((row) => ({ ...factsFrom(row), tools: JSON.parse(row.tools) as AgentTool[] }));
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
