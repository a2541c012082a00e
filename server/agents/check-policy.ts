import { setTimeout as sleep } from 'node:timers/promises';
import { type CallText, callTextFrom } from '../../client/policy/language/index.ts';
import { REPLAY_PAGE_ROWS } from '../limits.ts';
import type { RunRead, RunReadBytes } from '../records/days.ts';
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
  runRead: RunRead;
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

/** Pauses between pages, in times of what a page takes: a replay leaves the store to ingest most of the time. */
const REPLAY_PAUSE = 4;

type Place = { occurred_ms: number; event_id: string };

/**
 * Replays the newest recorded decisions of an agent page by page, so that memory holds one page of them. Their places are
 * read first: from then on the store reads only the arguments of each page.
 */
async function replayRecorded(
  ask: Ask,
  { window, limit }: Replay,
  { projectId, agentName, runRead, runReadBytes, now, signal }: CheckContext,
) {
  const { name, fromMs } = readWindow(window, now());
  const agent = { project_id: projectId, agent_name: agentName };
  const bounds = { ...agent, since: clickhouseTime(fromMs), limit };
  const places = await runRead<Place>(sql('replay_places'), bounds, signal);
  let tookMs = 0;
  for (let start = 0; start < places.length; start += REPLAY_PAGE_ROWS) {
    await sleep(REPLAY_PAUSE * tookMs, undefined, { signal });
    const startMs = performance.now();
    const page = places.slice(start, start + REPLAY_PAGE_ROWS);
    const params = { ...agent, ...rangeOf(page), limit: page.length };
    await ask('replayRows', await runReadBytes(sql('decisions_to_replay'), params, signal));
    tookMs = performance.now() - startMs;
  }
  const result = await ask('replayed', undefined);
  if (result === undefined) throw new Error('The thread lost its check');
  return { window: name, ...result };
}

function rangeOf(page: Place[]) {
  const [newest, oldest] = [page.at(0), page.at(-1)];
  return {
    since: clickhouseTime(oldest?.occurred_ms ?? 0),
    since_id: oldest?.event_id ?? '',
    until: clickhouseTime(newest?.occurred_ms ?? 0),
    until_id: newest?.event_id ?? '',
  };
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
