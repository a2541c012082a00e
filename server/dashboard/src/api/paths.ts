import type { WindowName } from './types.ts';

/** The filters of GET …/audit/decisions. Absent means no filter; role '' means records without a role. */
export const FILTER_NAMES = ['outcome', 'agent', 'role', 'tool', 'user_id', 'session_id'] as const;
export type FilterName = (typeof FILTER_NAMES)[number];
export type Filters = Partial<Record<FilterName, string>>;

/** Where the API keeps each thing. */
export const apiPath = {
  summary: (projectId: string, window: WindowName) => `${audit(projectId)}/summary?window=${window}`,
  timeseries: (projectId: string, window: WindowName) => `${audit(projectId)}/timeseries?window=${window}`,
  usage: (projectId: string, window: WindowName) => `${audit(projectId)}/llm-usage?window=${window}`,
  decisions: (projectId: string, query: URLSearchParams) => `${audit(projectId)}/decisions?${query}`,
  export: (projectId: string, query: URLSearchParams) => `${audit(projectId)}/decisions/export?${query}`,
  agents: (projectId: string) => `${project(projectId)}/agents`,
  agent: (projectId: string, name: string) => `${project(projectId)}/agents/${encodeURIComponent(name)}`,
  versions: (projectId: string, name: string) => `${apiPath.agent(projectId, name)}/versions`,
  version: (projectId: string, name: string, version: number) =>
    `${apiPath.agent(projectId, name)}/versions/${version}`,
  check: (projectId: string, name: string) => `${apiPath.agent(projectId, name)}/check`,
  fleet: (projectId: string, name: string) => `${apiPath.agent(projectId, name)}/fleet`,
  keys: (projectId: string) => `${project(projectId)}/keys`,
  members: (projectId: string) => `${project(projectId)}/members`,
  activity: (projectId: string, query: URLSearchParams) => `${project(projectId)}/activity?${query}`,
};

function project(projectId: string): string {
  return `/v1/projects/${encodeURIComponent(projectId)}`;
}

function audit(projectId: string): string {
  return `${project(projectId)}/audit`;
}

export function filterQuery(window: WindowName, filters: Filters): URLSearchParams {
  const query = new URLSearchParams({ window });
  for (const name of FILTER_NAMES) {
    const value = filters[name];
    if (value !== undefined) query.set(name, value);
  }
  return query;
}
