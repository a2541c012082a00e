import { type CallText, callTextFrom } from '../../client/policy/language/index.ts';
import { REPLAY_PAGE_ROWS } from '../limits.ts';
import type { Cursor } from '../records/cursor.ts';
import type { RunReadBytes } from '../records/days.ts';
import { cursorParams } from '../records/decisions.ts';
import { readWindow } from '../records/window.ts';
import { exactJson, hasNumberAtRisk } from '../json.ts';
import { sql } from '../store/sql.ts';
import { clickhouseTime } from '../store/time.ts';
import type { Check } from './bodies.ts';
import type { Ask, PolicyThreads } from './policy-threads.ts';

type Call = NonNullable<Check['calls']>[number];
type Replay = NonNullable<Check['replay']>;

type CheckContext = {
  projectId: string;
  agentName: string;
  threads: PolicyThreads;
  runReadBytes: RunReadBytes;
  now: () => number;
  /** The request body as it was sent, with every digit of its numbers. */
  text: string;
  /** Aborts when the caller disconnects. */
  signal: AbortSignal;
};

/** Checks a draft without saving it: its errors, its size, its decisions, and what it would have changed. */
export function checkPolicy({ policy_yaml, calls, replay }: Check, context: CheckContext) {
  const texts = calls && callTexts(calls, context.text);
  const check = async (ask: Ask) => {
    const checked = await ask('check', { policy_yaml, calls: texts });
    if (!checked.valid || replay === undefined) return checked;
    return { ...checked, replay: await replayRecorded(ask, replay, context) };
  };
  return context.threads.run(context.projectId, check, context.signal);
}

/** Reads the newest recorded decisions of an agent page by page, so that memory holds one page of them. */
async function replayRecorded(
  ask: Ask,
  { window, limit }: Replay,
  { projectId, agentName, runReadBytes, now, signal }: CheckContext,
) {
  const { name, fromMs } = readWindow(window, now());
  const params = { project_id: projectId, agent_name: agentName, since: clickhouseTime(fromMs) };
  let cursor: Cursor | undefined;
  for (let left = limit; left > 0;) {
    const asked = Math.min(left, REPLAY_PAGE_ROWS);
    const place = { ...cursorParams(cursor), limit: asked };
    const lines = await runReadBytes(sql('decisions_to_replay'), { ...params, ...place }, signal);
    const { rows, last } = (await ask('replayRows', lines)) ?? { rows: 0, last: undefined };
    if (rows < asked) break;
    left -= rows;
    cursor = last;
  }
  const result = await ask('replayed', undefined);
  if (result === undefined) throw new Error('The thread lost its check');
  return { window: name, ...result };
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
