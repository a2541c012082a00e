/** The answers of the public API (CONTRACT 4 to 8), as far as the dashboard reads them. */
export type WindowName = '24h' | '7d' | '30d' | '90d';
export type Outcome = 'allow' | 'deny' | 'needs_approval';

export type OutcomeCounts = { total: number; allow: number; deny: number; needs_approval: number };

export type Summary = {
  project_id: string;
  window: WindowName;
  from: string;
  to: string;
  totals: OutcomeCounts;
  by_agent: ({ agent_name: string } & OutcomeCounts)[];
  by_role: ({ role: string } & OutcomeCounts)[];
  by_tool: ({ tool_name: string } & OutcomeCounts)[];
};

export type Bucket = OutcomeCounts & { start: string };
export type Timeseries = {
  window: WindowName;
  from: string;
  to: string;
  bucket_seconds: number;
  buckets: Bucket[];
};

/** A number whose digits JavaScript's own numbers would lose is a JsonNumber. */
export type JsonValue =
  null | boolean | number | string | JsonNumber | JsonValue[] | { [key: string]: JsonValue };
export type JsonObject = { [key: string]: JsonValue };

/** A number as it was sent, digit for digit. */
export class JsonNumber {
  readonly source: string;

  constructor(source: string) {
    this.source = source;
  }
}

export type DecisionRecord = {
  event_id: string;
  occurred_at: string;
  received_at: string;
  agent_name: string;
  tool_name: string;
  outcome: Outcome;
  role: string;
  error_type: string;
  reason: string;
  violations: string[];
  hint: JsonObject | null;
  arguments: JsonObject | null;
  user_id: string;
  session_id: string;
  project_id: string;
  agent_version_id: string;
};

export type DecisionsPage = {
  total: number;
  limit: number;
  offset: number;
  items: DecisionRecord[];
  next_cursor: string | null;
};

export type UsageCounts = {
  calls: number;
  input_tokens: number;
  output_tokens: number;
  cached_input_tokens: number;
  reasoning_tokens: number;
  cost_usd: number | null;
};
export type LlmUsage = {
  window: WindowName;
  totals: UsageCounts;
  by_model: ({ model: string } & UsageCounts)[];
  by_agent: ({ agent_name: string } & UsageCounts)[];
};

export type VersionSummary = {
  agent_id: string;
  name: string;
  agent_version_id: string;
  version: number;
  etag: string;
  bundle: 'signed' | 'absent';
  created_at: string;
  created_by: string;
};
export type AgentTool = {
  name: string;
  description?: string;
  annotations?: { readOnlyHint?: boolean; destructiveHint?: boolean };
};
export type AgentSummary = VersionSummary & { tools: AgentTool[] };
export type AgentVersion = AgentSummary & { agent_yaml: string; policy_yaml: string; system_md: string };

export type Fleet = {
  name: string;
  latest: VersionSummary;
  keys_on_latest: number;
  items: {
    etag: string;
    agent_version_id: string | null;
    version: number | null;
    is_latest: boolean;
    keys: number;
    last_seen: string;
  }[];
};

export type PolicyFault = { line?: number; column?: number; message: string; path?: string };
export type Decision = {
  outcome: Outcome;
  reason: string;
  violations: string[];
  hint: JsonObject | null;
};
export type ReplayResult = {
  window: WindowName;
  examined: number;
  replayed: number;
  not_replayable: number;
  changed: number;
  changes: { tool: string; role: string; from: Outcome; to: Outcome; count: number; samples: string[] }[];
};
export type CheckResult = {
  valid: boolean;
  errors: PolicyFault[];
  bundle?: 'signed' | 'absent';
  bundle_absent_reason?: string;
  module_bytes?: number | null;
  decisions?: Decision[];
  replay?: ReplayResult;
};
export type SaveResult = VersionSummary & { created: boolean; bundle_absent_reason?: string };

export type Project = { id: string; name: string };
export type Me = { id: string; email: string; is_verified: boolean; projects: Project[] };

export type KeyItem = {
  key_id: string;
  name: string;
  scope: string;
  created_at: string;
  expires_at: string | null;
  revoked_at?: string | null;
};
export type NewKey = KeyItem & { key: string };

export type Member = { account_id: string; email: string; is_owner: boolean; added_at: string };

export type ActivityItem = {
  id: string;
  occurred_at: string;
  email: string;
  account_id: string;
  key_id: string;
  address: string;
  event: string;
  detail: JsonObject;
};
export type ActivityPage = { items: ActivityItem[]; next_cursor: string | null };
