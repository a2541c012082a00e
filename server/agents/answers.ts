import {
  answer,
  BOOLEAN,
  COUNT,
  nullable,
  NULLABLE_OBJECT,
  oneOf,
  STRING,
  TIME,
  UUID,
} from '../http/schemas.ts';
import { OUTCOMES } from '../ingest/decision-event.ts';
import { WINDOW_NAMES } from '../records/window.ts';
import { Type } from '../type.ts';

const OUTCOME = oneOf(OUTCOMES);

const BUNDLE = oneOf(['signed', 'absent']);
const VERSION_FIELDS = {
  agent_id: STRING,
  name: STRING,
  agent_version_id: STRING,
  version: COUNT,
  etag: STRING,
};
const NOTED = { note: Type.Optional(Type.String({ description: 'Why the version was saved' })) };
const SUMMARY_FIELDS = { ...VERSION_FIELDS, bundle: BUNDLE, created_at: TIME, created_by: STRING, ...NOTED };
const TEXTS = { agent_yaml: STRING, policy_yaml: STRING, system_md: STRING };
/** Absent in a version without a module. */
const BUNDLE_PARTS = {
  bundle_wasm_b64: Type.Optional(STRING),
  bundle_manifest: Type.Optional(STRING),
  bundle_signature_b64: Type.Optional(STRING),
};
const TOOL = answer({
  name: STRING,
  description: Type.Optional(STRING),
  annotations: Type.Optional(
    answer({ readOnlyHint: Type.Optional(BOOLEAN), destructiveHint: Type.Optional(BOOLEAN) }),
  ),
});

export const VERSION_SUMMARY = answer(SUMMARY_FIELDS, 'VersionSummary');
export const AGENT = answer({ ...SUMMARY_FIELDS, tools: Type.Array(TOOL) });
export const VERSION = answer(
  { ...SUMMARY_FIELDS, tools: Type.Array(TOOL), ...TEXTS, ...BUNDLE_PARTS },
  'Version',
);
export const POLICY = answer(
  { agent_id: STRING, agent_version_id: STRING, version: COUNT, ...TEXTS, ...BUNDLE_PARTS },
  'Policy',
);
export const REGISTERED = answer({ ...VERSION_FIELDS, created: BOOLEAN }, 'Registered');
const ABSENT_REASON = { bundle_absent_reason: Type.Optional(STRING) };
export const SAVED = answer(
  { ...VERSION_FIELDS, created: BOOLEAN, bundle: BUNDLE, ...ABSENT_REASON, ...NOTED },
  'Saved',
);

export const FLEET = answer(
  {
    name: STRING,
    latest: VERSION_SUMMARY,
    keys: COUNT,
    keys_on_latest: COUNT,
    items: Type.Array(
      answer({
        etag: STRING,
        agent_version_id: nullable<string>('string'),
        version: nullable<number>('integer'),
        is_latest: BOOLEAN,
        keys: COUNT,
        last_seen: TIME,
      }),
    ),
  },
  'Fleet',
);

const CHANGE = answer({
  tool: STRING,
  role: STRING,
  from: OUTCOME,
  to: OUTCOME,
  count: COUNT,
  samples: Type.Array(UUID, { description: 'The event_id of some of them' }),
});
const CHANGED = { changed: COUNT, changes: Type.Array(CHANGE) };
export const CHECKED = answer(
  {
    valid: BOOLEAN,
    errors: Type.Array(answer({ line: Type.Integer(), column: Type.Integer(), message: STRING })),
    bundle: Type.Optional(BUNDLE),
    ...ABSENT_REASON,
    module_bytes: Type.Optional(nullable<number>('integer', { description: 'null without a bundle' })),
    decisions: Type.Optional(
      Type.Array(
        answer({ outcome: OUTCOME, reason: STRING, violations: Type.Array(STRING), hint: NULLABLE_OBJECT }),
      ),
    ),
    replay: Type.Optional(
      answer({
        window: oneOf(WINDOW_NAMES),
        examined: COUNT,
        replayed: COUNT,
        not_replayable: COUNT,
        ...CHANGED,
        next_cursor: nullable<string>('string', { description: 'Leads to older decisions of the window' }),
        current: Type.Union([answer({ version: COUNT, ...CHANGED }), Type.Null()], {
          description: 'What changes compared with the saved policy; null for an agent without one',
        }),
      }),
    ),
  },
  'Check',
);
