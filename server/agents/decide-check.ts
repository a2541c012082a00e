import {
  type CallText,
  createTypescriptEngine,
  type Decision,
  decisionText,
  type PolicyEngine,
  type PolicyIr,
  unreadableCall,
} from '../../client/policy/language/index.ts';
import type { Outcome } from '../ingest/decision-event.ts';
import type { WindowName } from '../records/window.ts';

/** A recorded decision. `arguments` is JSON text. */
export type RecordedRow = {
  event_id: string;
  tool_name: string;
  role: string;
  outcome: Outcome;
  arguments: string;
};
/** The input of a check, as plain data that can be sent to a thread. */
export type CheckJob = {
  ir: PolicyIr;
  calls: CallText[] | undefined;
  replay: { window: WindowName; rows: RecordedRow[] } | undefined;
};
/** The decisions of the given calls, and the result of the replay. */
export type Decided = ReturnType<typeof decideCheck>;

const SAMPLES_MAX = 5;

/** Decides the given calls by a draft and replays recorded decisions. Unbounded in time. */
export function decideCheck({ ir, calls, replay }: CheckJob) {
  const engine = createTypescriptEngine(ir);
  return {
    ...(calls === undefined ? {} : { decisions: calls.map((call) => decisionOf(engine, call)) }),
    ...(replay === undefined ? {} : { replay: { window: replay.window, ...replayed(engine, replay.rows) } }),
  };
}

function decisionOf(engine: PolicyEngine, call: CallText): Decision {
  const text = call.ok ? engine.decideText(call.text) : decisionText(unreadableCall(call.code));
  return JSON.parse(text) as Decision;
}

function replayed(engine: PolicyEngine, rows: RecordedRow[]) {
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
    addChange(changes, row, outcome);
  }
  return { ...counts, changes: [...changes.values()].sort((a, b) => b.count - a.count) };
}

type Change = { tool: string; role: string; from: Outcome; to: Outcome; count: number; samples: string[] };

function addChange(
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

/** A decision whose arguments were truncated or redacted before they were sent cannot be decided again. */
function isReplayable({ arguments: text }: RecordedRow): boolean {
  return !text.includes('"[REDACTED]"') && !text.startsWith('{"_truncated":true,');
}

/** Built from the stored text, so that every number keeps its digits. */
function callText({ tool_name, role, arguments: text }: RecordedRow): string {
  const head = JSON.stringify({ tool: tool_name, ...(role === '' ? {} : { role }) });
  return `${head.slice(0, -1)},"arguments":${text || 'null'}}`;
}
