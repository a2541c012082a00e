import {
  createTypescriptEngine,
  parsePolicy,
  type Decision,
  type PolicyEngine,
} from '../../client/policy/language/index.ts';
import type { Outcome } from '../audit/decision-event.ts';
import { readWindow, WINDOW_NAMES, type WindowName } from '../audit/read-window.ts';
import { compilePolicy } from '../policy/compile-policy.ts';
import { clickhouseTime } from '../store/time.ts';
import { createParser } from '../validate.ts';

type Call = { tool: string; role?: string; arguments?: Record<string, unknown> | null };
type Replay = { window?: WindowName; limit?: number };
export type Check = { policy_yaml: string; calls?: Call[]; replay?: Replay };

type RecordedRow = { event_id: string; tool_name: string; role: string; outcome: Outcome; arguments: string };
type RecordedParams = { project_id: string; agent_name: string; since: string; limit: number };
export type ReadRecorded = (params: RecordedParams) => Promise<RecordedRow[]>;

const CALLS_MAX = 1000;
const REPLAY_ROWS = 1000;
const REPLAY_ROWS_MAX = 10_000;
const SAMPLES_MAX = 5;
/** A module's size does not depend on the record that it is made for. */
const NO_RECORD_HASH = '0'.repeat(64);

export const checkSchema = {
  type: 'object',
  required: ['policy_yaml'],
  properties: {
    policy_yaml: { type: 'string' },
    calls: {
      type: 'array',
      maxItems: CALLS_MAX,
      items: {
        type: 'object',
        required: ['tool'],
        properties: {
          tool: { type: 'string' },
          role: { type: 'string' },
          arguments: { type: ['object', 'null'] },
        },
      },
    },
    replay: {
      type: 'object',
      properties: {
        window: { type: 'string', enum: WINDOW_NAMES },
        limit: { type: 'integer', minimum: 1, maximum: REPLAY_ROWS_MAX },
      },
    },
  },
} as const;

export const parseCheck: (body: unknown) => Check = createParser<Check>(checkSchema);

type CheckContext = { projectId: string; agentName: string; runtime: Uint8Array; readRecorded: ReadRecorded };

/** Tells everything about a draft without saving it: its errors, its size, what it decides, what it would have changed. */
export async function checkPolicy({ policy_yaml, calls, replay }: Check, context: CheckContext) {
  const parsed = parsePolicy(policy_yaml);
  if (!parsed.ok) return { valid: false, errors: parsed.errors };
  const compiled = compilePolicy({ ir: parsed.ir, runtime: context.runtime, recordHash: NO_RECORD_HASH });
  const size =
    compiled.module === null
      ? { bundle: 'absent', bundle_absent_reason: compiled.absentReason, module_bytes: null }
      : { bundle: 'signed', module_bytes: compiled.module.length };
  const engine = createTypescriptEngine(parsed.ir);
  return {
    valid: true,
    errors: [],
    ...size,
    ...(calls === undefined ? {} : { decisions: calls.map((call) => engine.decide(call)) }),
    ...(replay === undefined ? {} : { replay: await replayRecorded(engine, replay, context) }),
  };
}

async function replayRecorded(
  engine: PolicyEngine,
  { window, limit }: Replay,
  { projectId, agentName, readRecorded }: CheckContext,
) {
  const { name, fromMs } = readWindow(window, Date.now());
  const since = clickhouseTime(fromMs);
  const rows = await readRecorded({
    project_id: projectId,
    agent_name: agentName,
    since,
    limit: limit ?? REPLAY_ROWS,
  });
  const changes = new Map<string, Change>();
  const counts = { examined: rows.length, replayed: 0, not_replayable: 0, changed: 0 };
  for (const row of rows) {
    if (!isReplayable(row)) {
      counts.not_replayable += 1;
      continue;
    }
    counts.replayed += 1;
    const { outcome } = JSON.parse(engine.decideText(callText(row))) as Decision;
    if (outcome === row.outcome) continue;
    counts.changed += 1;
    note(changes, row, outcome);
  }
  const list = [...changes.values()].sort((a, b) => b.count - a.count);
  return { window: name, ...counts, changes: list };
}

type Change = { tool: string; role: string; from: Outcome; to: Outcome; count: number; samples: string[] };

function note(
  changes: Map<string, Change>,
  { event_id, tool_name: tool, role, outcome: from }: RecordedRow,
  to: Outcome,
): void {
  const key = JSON.stringify([tool, role, from, to]);
  const change = changes.get(key) ?? { tool, role, from, to, count: 0, samples: [] };
  change.count += 1;
  if (change.samples.length < SAMPLES_MAX) change.samples.push(event_id);
  changes.set(key, change);
}

/** The decision was made on the arguments as they were; what was cut or redacted since cannot be decided again. */
function isReplayable({ arguments: text }: RecordedRow): boolean {
  return !text.includes('"[REDACTED]"') && !text.startsWith('{"_truncated":true,');
}

/** From the stored text, so that every number keeps its digits. */
function callText({ tool_name, role, arguments: text }: RecordedRow): string {
  const head = JSON.stringify({ tool: tool_name, ...(role === '' ? {} : { role }) });
  return `${head.slice(0, -1)},"arguments":${text || 'null'}}`;
}
