import { type CallText, callTextFrom, parsePolicy } from '../../client/policy/language/index.ts';
import { readWindow } from '../records/window.ts';
import { compilePolicy } from '../policy/compile-policy.ts';
import { exactJson, hasNumberAtRisk } from '../json.ts';
import { clickhouseTime } from '../store/time.ts';
import type { Check } from './bodies.ts';
import type { RunCheck } from './check-runner.ts';
import type { CheckJob, RecordedRow } from './decide-check.ts';

type RecordedParams = { project_id: string; agent_name: string; since: string; limit: number };
export type ReadRecorded = (params: RecordedParams) => Promise<RecordedRow[]>;

/** A module's size does not depend on the record that it is made for. */
const NO_RECORD_HASH = '0'.repeat(64);

type Call = NonNullable<Check['calls']>[number];
type Replay = NonNullable<Check['replay']>;

type CheckContext = {
  projectId: string;
  agentName: string;
  runtime: Uint8Array;
  readRecorded: ReadRecorded;
  runCheck: RunCheck;
  /** The body as it came: its numbers are decided on digit for digit. */
  text: string;
  /** Aborts when nobody waits for the answer any more. */
  signal: AbortSignal;
};

/** Tells everything about a draft without saving it: its errors, its size, what it decides, what it would have changed. */
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
    replay: replay && (await readReplay(replay, context)),
  });
  const decided = await context.runCheck(createJob, context.signal);
  return { ...checked, ...decided };
}

/** The calls as the agent would write them: a number that JavaScript cannot hold is none that it may round. */
function callTexts(calls: Call[], text: string): CallText[] {
  if (!hasNumberAtRisk(text)) return calls.map((call) => callTextFrom(call));
  const { value, textOf } = exactJson(text);
  const exact = (value as { calls: Call[] }).calls;
  return calls.map((call, index) => {
    try {
      const { tool, role } = call;
      return { ok: true, text: textOf({ tool, role, arguments: exact[index]?.arguments }) };
    } catch {
      // Nested too deeply to be written by recursion: the engines' own writer says what is wrong with it.
      return callTextFrom(call);
    }
  });
}

async function readReplay(
  { window, limit }: Replay,
  { projectId, agentName, readRecorded }: CheckContext,
): Promise<CheckJob['replay']> {
  const { name, fromMs } = readWindow(window, Date.now());
  const since = clickhouseTime(fromMs);
  const rows = await readRecorded({ project_id: projectId, agent_name: agentName, since, limit });
  return { window: name, rows };
}
