import { setTimeout as sleep } from 'node:timers/promises';
import { type CallText, callTextFrom } from '../../client/policy/language/index.ts';
import { chunksOf } from '../commit/identity.ts';
import type { Fault } from '../errors.ts';
import { REPLAY_PAGE_ROWS } from '../limits.ts';
import type { RunRead, RunReadBytes } from '../store/read-pool.ts';
import { readWindow } from '../records/window.ts';
import { exactJson, hasNumberAtRisk } from '../json.ts';
import { sql } from '../store/sql.ts';
import { clickhouseTime } from '../store/time.ts';
import { type Cursor, cursorText, parseCursor } from '../records/cursor.ts';
import { cursorParams } from '../records/pages.ts';
import { bodyInvalid } from '../validate.ts';
import type { AgentStore } from './agent-store.ts';
import type { AgentVersion } from './agent-version.ts';
import type { Check } from './bodies.ts';
import type { Ask, PolicyThreads } from './policy-threads.ts';

type Call = NonNullable<Check['calls']>[number];
type Replay = NonNullable<Check['replay']>;

type CheckContext = {
  projectId: string;
  agentName: string;
  agentStore: AgentStore;
  policyThreads: PolicyThreads;
  runRead: RunRead;
  runReadBytes: RunReadBytes;
  now: () => number;
  /** The request body as it was sent, with every digit of its numbers. */
  text: string;
  /** Aborts when the caller disconnects. */
  signal: AbortSignal;
};

type Asked = { replay: Replay; after: Cursor | undefined; saved: AgentVersion | undefined };

const IN_BODY = { path: '/replay/cursor', fail: (fault: Fault) => bodyInvalid([fault]) };

/** Checks a draft without saving it: its errors, its size, its decisions, and what it changes for recorded calls. */
export async function checkPolicy({ policy_yaml, calls, replay }: Check, context: CheckContext) {
  const { agentStore, projectId, agentName, policyThreads, signal } = context;
  const texts = calls && callTexts(calls, context.text);
  const after = replay?.cursor === undefined ? undefined : parseCursor(replay.cursor, IN_BODY);
  const saved = replay && (await agentStore.find(projectId, agentName));
  const check = async (ask: Ask) => {
    const checked = await ask('check', { policy_yaml, calls: texts, current: saved?.policy_yaml });
    if (!checked.valid || replay === undefined) return checked;
    return { ...checked, replay: await replayRecorded(ask, { replay, after, saved }, context) };
  };
  return policyThreads.run(projectId, check, signal);
}

/** The pause between pages, as a multiple of the duration of a page: a replay leaves most of the store's time to ingest. */
const REPLAY_PAUSE = 4;

type Place = { occurred_ms: number; event_id: string };

/**
 * Replays the newest recorded decisions of an agent page by page, so that memory holds only one page. Their positions are read first; after
 * that, the store reads only the arguments of each page.
 */
async function replayRecorded(
  ask: Ask,
  { replay: { window, limit }, after, saved }: Asked,
  { projectId, agentName, runRead, runReadBytes, now, signal }: CheckContext,
) {
  const { name, fromMs } = readWindow(window, now());
  const agent = { project_id: projectId, agent_name: agentName };
  // One more than requested shows whether there are older ones.
  const bounds = { ...agent, ...cursorParams(after), since: clickhouseTime(fromMs), limit: limit + 1 };
  const found = await runRead<Place>(sql('replay_places'), bounds, signal);
  const places = found.slice(0, limit);
  const last = found.length > limit ? places.at(-1) : undefined;
  let tookMs = 0;
  for (const page of chunksOf(places, REPLAY_PAGE_ROWS)) {
    await sleep(REPLAY_PAUSE * tookMs, undefined, { signal });
    const startMs = performance.now();
    const params = { ...agent, ...rangeOf(page), limit: page.length };
    await ask('replayRows', await runReadBytes(sql('decisions_to_replay'), params, signal));
    tookMs = performance.now() - startMs;
  }
  const result = await ask('replayed', undefined);
  if (result === undefined) throw new Error('The thread lost its check');
  const { current, ...recorded } = result;
  return {
    window: name,
    ...recorded,
    next_cursor:
      last === undefined ? null : cursorText({ occurredAtMs: last.occurred_ms, event_id: last.event_id }),
    current: saved === undefined || current === null ? null : { version: saved.version, ...current },
  };
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
