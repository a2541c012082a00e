import { call, jsonOf } from './accounts.ts';
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

type Options = { key?: string; headers?: Record<string, string>; projectId?: string };

export function register(
  service: RunningService,
  manifest: unknown,
  { key = service.key }: Options = {},
): Promise<Response> {
  return call(service, '/v1/agents', { key, body: manifest });
}

/** Saves a policy, prompt or definition. */
export function save(
  service: RunningService,
  name: string,
  edit: unknown,
  { key = service.key, headers = {}, projectId = service.project_id }: Options = {},
): Promise<Response> {
  const path = `/v1/projects/${projectId}/agents/${encodeURIComponent(name)}`;
  return call(service, path, { method: 'PUT', key, headers, body: edit });
}

export function fetchAgent(
  service: RunningService,
  name: string,
  { key = service.key, headers = {} }: Options = {},
): Promise<Response> {
  return call(service, `/v1/agents/${encodeURIComponent(name)}`, { key, headers });
}

export function checkDraft(
  service: RunningService,
  name: string,
  draft: unknown,
  signal?: AbortSignal,
): Promise<Response> {
  const path = `/v1/projects/${service.project_id}/agents/${name}/check`;
  return call(service, path, { key: service.key, body: draft, signal });
}

/** Reads a list of a project, which is open by default. */
export function readProject<T>(service: RunningService, path: string): Promise<T> {
  return jsonOf<T>(call(service, `/v1/projects/${service.project_id}/${path}`));
}

/** A policy for one tool, with a comment that tells one from another. */
export function policyText(comment: string, tool = 'search'): string {
  return `version: 1 # ${comment}\ntools: [${tool}]\nroles:\n  "*": {allow: [${tool}]}\nrules: []\n`;
}
