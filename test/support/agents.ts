import { call, jsonOf } from './accounts.ts';
import { keyWith } from './keys.ts';
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

/** Saves a policy, prompt or definition, with the right to do so unless a key is given. */
export async function save(
  service: RunningService,
  name: string,
  edit: unknown,
  { key, headers = {}, projectId = service.project_id }: Options = {},
): Promise<Response> {
  const path = `/v1/projects/${projectId}/agents/${encodeURIComponent(name)}`;
  const editKey = key ?? (await keyWith(service, { scope: 'edit_policy' }));
  return call(service, path, { method: 'PUT', key: editKey, headers, body: edit });
}

export function fetchAgent(
  service: RunningService,
  name: string,
  { key = service.key, headers = {} }: Options = {},
): Promise<Response> {
  return call(service, `/v1/agents/${encodeURIComponent(name)}`, { key, headers });
}

export async function checkDraft(
  service: RunningService,
  name: string,
  draft: unknown,
  signal?: AbortSignal,
): Promise<Response> {
  const path = `/v1/projects/${service.project_id}/agents/${name}/check`;
  const key = await keyWith(service, { scope: 'edit_policy' });
  return call(service, path, { key, body: draft, signal });
}

/** Reads a list of a project, which is open by default. */
export function readProject<T>(service: RunningService, path: string): Promise<T> {
  return jsonOf<T>(call(service, `/v1/projects/${service.project_id}/${path}`));
}

/** A policy for one tool, with a comment to distinguish policies. */
export function policyText(comment: string, tool = 'search'): string {
  return `version: 1 # ${comment}\ntools: [${tool}]\nroles:\n  "*": {allow: [${tool}]}\nrules: []\n`;
}
