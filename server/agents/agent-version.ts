/** A tool of a registered agent, as in its manifest. The annotations are those of MCP. */
export type AgentTool = {
  name: string;
  description?: string;
  annotations?: { readOnlyHint?: boolean; destructiveHint?: boolean };
};

/**
 * A stored version of an agent. Only its manifest and its signature may change, when it is signed again at `signed_at`.
 * Without a compiled module, the bundle fields are ''.
 */
export type AgentVersion = {
  project_id: string;
  agent_name: string;
  version: number;
  created_at: string;
  agent_version_id: string;
  agent_id: string;
  created_by: string;
  tools: AgentTool[];
  agent_yaml: string;
  policy_yaml: string;
  system_md: string;
  bundle_wasm_b64: string;
  bundle_manifest: string;
  bundle_signature_b64: string;
  etag: string;
  signed_at: string;
  /** Why it was saved; '' if there is no note. Not part of the bundle. */
  note: string;
};

/** What a list shows of a version. */
export type VersionFacts = Pick<
  AgentVersion,
  | 'agent_id'
  | 'agent_name'
  | 'agent_version_id'
  | 'version'
  | 'etag'
  | 'bundle_signature_b64'
  | 'created_at'
  | 'created_by'
  | 'note'
>;

/** The answer to a policy fetch. The bundle fields are absent when there is no compiled module. */
export function fetchBody(stored: AgentVersion) {
  const { agent_id, agent_version_id, version, agent_yaml, policy_yaml, system_md } = stored;
  const { bundle_wasm_b64, bundle_manifest, bundle_signature_b64 } = stored;
  const bundle = bundle_wasm_b64 === '' ? {} : { bundle_wasm_b64, bundle_manifest, bundle_signature_b64 };
  return { agent_id, agent_version_id, version, agent_yaml, policy_yaml, system_md, ...bundle };
}

/** Absent in a version without a note. */
export function noteOf({ note }: Pick<AgentVersion, 'note'>) {
  return note === '' ? {} : { note };
}

/** The answer to a registration. */
export function savedBody(stored: AgentVersion, created: boolean) {
  const { agent_id, agent_name, agent_version_id, version, etag } = stored;
  return { agent_id, name: agent_name, agent_version_id, version, etag, created };
}

export function bundleOf({
  bundle_signature_b64,
}: Pick<AgentVersion, 'bundle_signature_b64'>): 'signed' | 'absent' {
  return bundle_signature_b64 === '' ? 'absent' : 'signed';
}

/** A version in a list: without its texts and its bundle. */
export function versionSummary(version: VersionFacts) {
  const { agent_id, agent_name, agent_version_id, etag, created_at, created_by } = version;
  return {
    agent_id,
    name: agent_name,
    agent_version_id,
    version: version.version,
    etag,
    bundle: bundleOf(version),
    created_at,
    created_by,
    ...noteOf(version),
  };
}
