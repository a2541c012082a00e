import type { RunningService } from './service.ts';

export type SavedAgent = {
  agent_id: string;
  name: string;
  agent_version_id: string;
  version: number;
  etag: string;
  created: boolean;
  bundle?: 'signed' | 'absent';
};

export type FetchedAgent = {
  agent_id: string;
  agent_version_id: string;
  version: number;
  agent_yaml: string;
  policy_yaml: string;
  system_md: string;
  bundle_wasm_b64?: string;
  bundle_manifest?: string;
  bundle_signature_b64?: string;
};

type Call = { key?: string; headers?: Record<string, string>; projectId?: string };

/** POST /v1/agents with the demo key. */
export function register(
  service: RunningService,
  manifest: unknown,
  { key = service.key }: Call = {},
): Promise<Response> {
  return send(`${service.url}/v1/agents`, { method: 'POST', key, body: manifest });
}

/** PUT of a policy, prompt or definition with the demo key. */
export function save(
  service: RunningService,
  name: string,
  edit: unknown,
  call: Call = {},
): Promise<Response> {
  const { key = service.key, headers = {}, projectId = service.project_id } = call;
  const url = `${service.url}/v1/projects/${projectId}/agents/${encodeURIComponent(name)}`;
  return send(url, { method: 'PUT', key, headers, body: edit });
}

export function fetchAgent(
  service: RunningService,
  name: string,
  { key = service.key, headers = {} }: Call = {},
): Promise<Response> {
  return fetch(`${service.url}/v1/agents/${encodeURIComponent(name)}`, {
    headers: { Authorization: `Bearer ${key}`, ...headers },
  });
}

export function checkDraft(
  service: RunningService,
  name: string,
  draft: unknown,
  signal?: AbortSignal,
): Promise<Response> {
  const url = `${service.url}/v1/projects/${service.project_id}/agents/${name}/check`;
  return send(url, { method: 'POST', key: service.key, body: draft, signal });
}

/** GET of a list below a project, which is open by default. */
export async function readProject<T>(service: RunningService, path: string): Promise<T> {
  const response = await fetch(`${service.url}/v1/projects/${service.project_id}/${path}`);
  return (await response.json()) as T;
}

type Sent = {
  method: string;
  key: string;
  headers?: Record<string, string>;
  body: unknown;
  signal?: AbortSignal | undefined;
};

function send(url: string, { method, key, headers = {}, body, signal }: Sent): Promise<Response> {
  return fetch(url, {
    method,
    signal: signal ?? null,
    headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${key}`, ...headers },
    body: JSON.stringify(body),
  });
}

export { jsonOf as bodyOf } from './accounts.ts';

/** A policy for one tool, with a comment that tells one from another. */
export function policyText(comment: string, tool = 'search'): string {
  return `version: 1 # ${comment}\ntools: [${tool}]\nroles:\n  "*": {allow: [${tool}]}\nrules: []\n`;
}
