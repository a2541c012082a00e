import { OUTCOMES } from '../ingest/decision-event.ts';
import { WINDOW_NAMES } from '../records/window.ts';
import { PROBLEMS } from '../errors.ts';
import { BOOLEAN, COUNT, exactObject, type JsonSchema, listOf, ref, STRING, TIME, UUID } from './schema.ts';

const NULLABLE_OBJECT = { type: ['object', 'null'] } as const;
const NULLABLE_TIME = { ...TIME, type: ['string', 'null'] } as const;
const NULLABLE_TEXT = { type: ['string', 'null'] } as const;
const BUNDLE = { type: 'string', enum: ['signed', 'absent'] } as const;
const COUNTS = { total: COUNT, allow: COUNT, deny: COUNT, needs_approval: COUNT };
const OTHERS = { ...exactObject({ entries: COUNT, ...COUNTS }), type: ['object', 'null'] } as const;
const OUTCOME = { type: 'string', enum: OUTCOMES } as const;
const WINDOW = { type: 'string', enum: WINDOW_NAMES } as const;
const SCOPE = { project_id: STRING, window: WINDOW, from: TIME, to: TIME };
const USAGE = {
  calls: COUNT,
  input_tokens: COUNT,
  output_tokens: COUNT,
  cached_input_tokens: COUNT,
  reasoning_tokens: COUNT,
  cost_usd: { type: 'number', minimum: 0, description: 'What is known of the cost, added up' },
};
const KEY = {
  key_id: UUID,
  name: STRING,
  scope: STRING,
  created_at: TIME,
  expires_at: NULLABLE_TIME,
};
const VERSION = {
  agent_id: STRING,
  name: STRING,
  agent_version_id: STRING,
  version: COUNT,
  etag: STRING,
};
const VERSION_SUMMARY = { ...VERSION, bundle: BUNDLE, created_at: TIME, created_by: STRING };
const POLICY_TEXTS = { agent_yaml: STRING, policy_yaml: STRING, system_md: STRING };
const BUNDLE_PARTS = { bundle_wasm_b64: STRING, bundle_manifest: STRING, bundle_signature_b64: STRING };
const MEMBER = { account_id: UUID, is_owner: BOOLEAN, added_at: TIME, email: STRING };
const HINTS = exactObject({}, { readOnlyHint: BOOLEAN, destructiveHint: BOOLEAN });
const TOOL = exactObject({ name: STRING }, { description: STRING, annotations: HINTS });

/** The bodies of answers, by name. What leaves the service is told exactly: no key more, none less. */
export const ANSWERS: Record<string, JsonSchema> = {
  Problem: {
    ...exactObject(
      {
        type: { type: 'string', pattern: '^urn:gatehouse:problem:' },
        title: STRING,
        status: { type: 'integer' },
        detail: STRING,
        code: { type: 'string', enum: Object.keys(PROBLEMS) },
      },
      {
        errors: listOf(
          exactObject(
            { message: STRING },
            { path: STRING, line: { type: 'integer' }, column: { type: 'integer' } },
          ),
        ),
      },
    ),
    description: 'RFC 9457',
  },
  Accepted: exactObject({ event_id: UUID }),
  Counts: exactObject(COUNTS),
  Summary: exactObject({
    ...SCOPE,
    totals: ref('Counts'),
    by_agent: listOf(exactObject({ agent_name: STRING, ...COUNTS })),
    by_role: listOf(exactObject({ role: STRING, ...COUNTS })),
    by_tool: listOf(exactObject({ tool_name: STRING, ...COUNTS })),
    others: {
      ...exactObject({ by_agent: OTHERS, by_role: OTHERS, by_tool: OTHERS }),
      description: 'What each list leaves out; a list and its others add up to the totals',
    },
  }),
  Timeseries: exactObject({
    ...SCOPE,
    bucket_seconds: { type: 'integer', enum: [3600, 21_600, 86_400] },
    buckets: listOf(exactObject({ start: TIME, ...COUNTS })),
  }),
  Decision: exactObject({
    event_id: UUID,
    occurred_at: TIME,
    agent_name: STRING,
    tool_name: STRING,
    outcome: OUTCOME,
    role: STRING,
    error_type: STRING,
    reason: STRING,
    violations: listOf(STRING),
    hint: NULLABLE_OBJECT,
    arguments: NULLABLE_OBJECT,
    user_id: STRING,
    session_id: STRING,
    project_id: STRING,
    agent_version_id: STRING,
    received_at: TIME,
  }),
  Decisions: exactObject({
    project_id: STRING,
    window: WINDOW,
    total: COUNT,
    limit: COUNT,
    offset: COUNT,
    next_cursor: { ...NULLABLE_TEXT, description: 'For `cursor`; null on the last page' },
    items: listOf(ref('Decision')),
  }),
  LlmUsage: exactObject({
    ...SCOPE,
    totals: exactObject(USAGE),
    by_model: listOf(exactObject({ model: STRING, ...USAGE })),
    by_agent: listOf(exactObject({ agent_name: STRING, ...USAGE })),
  }),
  Registered: exactObject({ ...VERSION, created: BOOLEAN }),
  Saved: exactObject({ ...VERSION, created: BOOLEAN, bundle: BUNDLE }, { bundle_absent_reason: STRING }),
  Policy: exactObject(
    { agent_id: STRING, agent_version_id: STRING, version: COUNT, ...POLICY_TEXTS },
    BUNDLE_PARTS,
  ),
  Agents: exactObject({ items: listOf(exactObject({ ...VERSION_SUMMARY, tools: listOf(TOOL) })) }),
  Versions: exactObject({ items: listOf(exactObject(VERSION_SUMMARY)) }),
  Version: exactObject({ ...VERSION_SUMMARY, tools: listOf(TOOL), ...POLICY_TEXTS }, BUNDLE_PARTS),
  Check: exactObject(
    {
      valid: BOOLEAN,
      errors: listOf(
        exactObject({ line: { type: 'integer' }, column: { type: 'integer' }, message: STRING }),
      ),
    },
    {
      bundle: BUNDLE,
      bundle_absent_reason: STRING,
      module_bytes: { type: ['integer', 'null'], description: 'null without a bundle' },
      decisions: listOf(ref('Decided')),
      replay: ref('Replay'),
    },
  ),
  Decided: exactObject({
    outcome: OUTCOME,
    reason: STRING,
    violations: listOf(STRING),
    hint: NULLABLE_OBJECT,
  }),
  Replay: exactObject({
    window: WINDOW,
    examined: COUNT,
    replayed: COUNT,
    not_replayable: COUNT,
    changed: COUNT,
    changes: listOf(
      exactObject({
        tool: STRING,
        role: STRING,
        from: OUTCOME,
        to: OUTCOME,
        count: COUNT,
        samples: { ...listOf(UUID), description: 'The event_id of a few' },
      }),
    ),
  }),
  Fleet: exactObject({
    name: STRING,
    latest: exactObject(VERSION_SUMMARY),
    keys_on_latest: COUNT,
    items: listOf(
      exactObject({
        etag: STRING,
        agent_version_id: NULLABLE_TEXT,
        version: { type: ['integer', 'null'] },
        is_latest: BOOLEAN,
        keys: COUNT,
        last_seen: TIME,
      }),
    ),
  }),
  KeySet: exactObject({
    keys: listOf(
      exactObject({
        kty: { const: 'OKP' },
        crv: { const: 'Ed25519' },
        alg: { const: 'EdDSA' },
        use: { const: 'sig' },
        kid: STRING,
        x: STRING,
      }),
    ),
  }),
  Account: exactObject({ id: UUID, email: STRING, is_verified: BOOLEAN }),
  Me: exactObject({
    id: UUID,
    email: STRING,
    is_verified: BOOLEAN,
    projects: listOf(exactObject({ id: STRING, name: STRING })),
  }),
  Mailed: exactObject({ status: { const: 'accepted' } }),
  Project: exactObject({ id: STRING, name: STRING, created_at: TIME }),
  Projects: exactObject({ items: listOf(ref('Project')) }),
  Member: exactObject(MEMBER),
  Members: exactObject({ items: listOf(ref('Member')) }),
  IssuedKey: exactObject({ ...KEY, key: { ...STRING, description: 'Shown only here' } }),
  Keys: exactObject({ items: listOf(exactObject({ ...KEY, revoked_at: NULLABLE_TIME })) }),
  Activity: exactObject({
    project_id: STRING,
    items: listOf(
      exactObject({
        id: UUID,
        occurred_at: TIME,
        event: STRING,
        project_id: STRING,
        account_id: STRING,
        email: STRING,
        key_id: STRING,
        address: STRING,
        detail: { type: 'object' },
      }),
    ),
    limit: COUNT,
    next_cursor: NULLABLE_TEXT,
  }),
  Status: exactObject({ status: STRING }),
};
