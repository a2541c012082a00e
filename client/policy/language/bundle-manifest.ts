/** An agent's texts and their bundle (docs/policy.md, "Bundle"). */
export type AgentRecord = {
  agent_yaml: string;
  policy_yaml: string;
  system_md: string;
  bundle_wasm_b64?: string | null;
  bundle_manifest?: string | null;
  bundle_signature_b64?: string | null;
};

export type RecordParts = {
  project_id: string;
  agent_name: string;
  version: number;
  agent_yaml: string;
  policy_yaml: string;
  system_md: string;
};

/** The text whose SHA-256 is record_hash. It includes the version, so every version has its own ETag. */
export function recordHashText(parts: RecordParts): string {
  const { project_id, agent_name, version, agent_yaml, policy_yaml, system_md } = parts;
  return JSON.stringify([project_id, agent_name, version, agent_yaml, policy_yaml, system_md]);
}

export const BUNDLE_FORMAT = 'gatehouse-bundle/1';
export const BUNDLE_ABI = 1;

/** The signed manifest; its text has the keys in this order. */
export type BundleManifest = {
  format: typeof BUNDLE_FORMAT;
  kid: string;
  project_id: string;
  agent_name: string;
  agent_version_id: string;
  version: number;
  abi: typeof BUNDLE_ABI;
  wasm_hash: string;
  record_hash: string;
  created_at: string;
  /** RFC 3339. Without it the bundle does not expire. */
  expires_at?: string;
};
