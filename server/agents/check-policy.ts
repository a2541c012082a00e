import { type CallText, callTextFrom, parsePolicy } from '../../client/policy/language/index.ts';
import type { RunRead } from '../records/days.ts';
import { readWindow } from '../records/window.ts';
import { compilePolicy } from '../policy/compile-policy.ts';
import { exactJson, hasNumberAtRisk } from '../json.ts';
import { sql } from '../store/sql.ts';
import { clickhouseTime } from '../store/time.ts';
import type { Check } from './bodies.ts';
import type { RunCheck } from './check-runner.ts';
import type { CheckJob, RecordedRow } from './decide-check.ts';

/** Reads the recorded decisions of an agent that a check replays. */
export type ReadRecorded = (agent: Agent, replay: Replay) => Promise<CheckJob['replay']>;

/** The size of a module does not depend on its record. */
const NO_RECORD_HASH = '0'.repeat(64);

type Agent = { projectId: string; agentName: string };
type Call = NonNullable<Check['calls']>[number];
type Replay = NonNullable<Check['replay']>;

type CheckContext = Agent & {
  runtime: Uint8Array;
  readRecorded: ReadRecorded;
  runCheck: RunCheck;
  /** The request body as it was sent, with every digit of its numbers. */
  text: string;
  /** Aborts when the caller disconnects. */
  signal: AbortSignal;
};

/** Checks a draft without saving it: its errors, its size, its decisions, and what it would have changed. */
export async function checkPolicy({ policy_yaml, calls, replay }: Check, context: CheckContext) {
  const parsed = parsePolicy(policy_yaml);
  if (!parsed.ok) return { valid: false, errors: parsed.errors };
  const compiled = compilePolicy({ ir: parsed.ir, runtime: context.runtime, recordHash: NO_RECORD_HASH });
  const size =
    compiled.module === null
      ? { bundle: 'absent' as const, bundle_absent_reason: compiled.absentReason, module_bytes: null }
      : { bundle: 'signed' as const, module_bytes: compiled.module.length };
  const checked = { valid: true, errors: [], ...size };
  if (calls === undefined && replay === undefined) return checked;
  const createJob = async (): Promise<CheckJob> => ({
    ir: parsed.ir,
    calls: calls && callTexts(calls, context.text),
    replay: replay && (await context.readRecorded(context, replay)),
  });
  const decided = await context.runCheck(createJob, context.signal);
  return { ...checked, ...decided };
}

/** The calls as JSON text, without rounding numbers that JavaScript cannot represent. */
function callTexts(calls: Call[], text: string): CallText[] {
  if (!hasNumberAtRisk(text)) return calls.map((call) => callTextFrom(call));
  const { value, textOf } = exactJson(text);
  const exact = (value as { calls: Call[] }).calls;
  return calls.map((call, index) => {
    try {
      const { tool, role } = call;
      return { ok: true, text: textOf({ tool, role, arguments: exact[index]?.arguments }) };
    } catch {
      // Nested too deeply to write; the engines' own writer reports it.
      return callTextFrom(call);
    }
  });
}

export function createReadRecorded(runRead: RunRead, now: () => number): ReadRecorded {
  return async ({ projectId, agentName }, { window, limit }) => {
    const { name, fromMs } = readWindow(window, now());
    const params = { project_id: projectId, agent_name: agentName, since: clickhouseTime(fromMs), limit };
    return { window: name, rows: await runRead<RecordedRow>(sql('decisions_to_replay'), params) };
  };
}
