import { queryInvalid, quoted } from '../http/query.ts';
import { clickhouseTime } from '../store/time.ts';
import type { ReadScope } from './counts.ts';
import { MS_MAX } from './cursor.ts';
import type { AuditReads } from './days.ts';
import { droppedOf, type GapPage, readLedger, type Stream, STREAMS } from './ledger.ts';

/** A position in the list of gaps: everything after this one. */
type GapCursor = { beforeMs: number; stream: Stream; emitter: string; first: number };

/** GET …/audit/gaps: newest first, by when the later neighbour was received. Within one millisecond, decisions come first. */
export async function readGaps(
  reads: AuditReads,
  scope: ReadScope,
  { limit, cursor }: { limit: number; cursor: GapCursor | undefined },
) {
  const lists = await Promise.all(
    STREAMS.map(async (stream) => {
      // One more than requested shows whether there is a next page.
      const page = pageOf(stream, limit + 1, cursor);
      const { pages = [] } = await readLedger(reads, scope, { stream, page });
      return pages.flatMap((emitter) => gapsOf(stream, emitter));
    }),
  );
  const all = lists.flat().sort(byPlace);
  const shown = all.slice(0, limit);
  const last = shown.at(-1);
  return {
    items: shown.map(({ item }) => item),
    next_cursor: all.length > limit && last !== undefined ? cursorText(last.place) : null,
  };
}

type Placed = ReturnType<typeof gapsOf>[number];

/** The gaps of an emitter that are on the page. */
function gapsOf(
  stream: Stream,
  [emitter, gaps, page]: NonNullable<Awaited<ReturnType<typeof readLedger>>['pages']>[number],
) {
  const explained = droppedOf(gaps);
  const droppedFrom = new Map(gaps.map(([first], place) => [first, explained[place] ?? 0]));
  return page.map(([first, end, agent_name, afterMs, beforeMs]) => {
    const dropped = droppedFrom.get(first) ?? 0;
    const item = {
      emitter,
      agent_name,
      stream,
      from_sequence: first,
      to_sequence: end - 1,
      dropped,
      missing: end - first - dropped,
      after: afterMs === 0 ? null : new Date(afterMs).toISOString(),
      before: new Date(beforeMs).toISOString(),
    };
    return { item, place: { beforeMs, stream, emitter, first: end } };
  });
}

function byPlace({ place: a }: Placed, { place: b }: Placed): number {
  if (a.beforeMs !== b.beforeMs) return b.beforeMs - a.beforeMs;
  if (a.stream !== b.stream) return STREAMS.indexOf(a.stream) - STREAMS.indexOf(b.stream);
  if (a.emitter !== b.emitter) return a.emitter < b.emitter ? 1 : -1;
  return b.first - a.first;
}

const FIRST_ID = '00000000-0000-0000-0000-000000000000';
const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** The part after the cursor in one stream: within the cursor's own millisecond, only gaps that sort after it. */
function pageOf(stream: Stream, limit: number, cursor: GapCursor | undefined): GapPage {
  if (cursor === undefined) return { limit, until: null, until_emitter: FIRST_ID, until_first: 0 };
  const until = clickhouseTime(cursor.beforeMs);
  if (stream === cursor.stream)
    return { limit, until, until_emitter: cursor.emitter, until_first: cursor.first };
  const isAfter = STREAMS.indexOf(stream) > STREAMS.indexOf(cursor.stream);
  const until_emitter = isAfter ? LAST_ID : FIRST_ID;
  return { limit, until, until_emitter, until_first: isAfter ? Number.MAX_SAFE_INTEGER : 0 };
}

const PATTERN =
  /^g1 (\d{1,14}) (decisions|llm_invocations) ([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}) (\d{1,16})$/;

/** Opaque to callers, and safe in a URL. */
function cursorText({ beforeMs, stream, emitter, first }: GapCursor): string {
  return Buffer.from(`g1 ${beforeMs} ${stream} ${emitter} ${first}`).toString('base64url');
}

/** Throws query_invalid for any text that is not a cursor of this list. */
export function parseGapCursor(text: string): GapCursor {
  const plain = Buffer.from(text, 'base64url').toString('latin1');
  const [, ms, stream, emitter = '', first] = PATTERN.exec(plain) ?? [];
  const cursor = { beforeMs: Number(ms), stream: stream as Stream, emitter, first: Number(first) };
  if (cursor.beforeMs <= MS_MAX && cursorText(cursor) === text) return cursor;
  throw queryInvalid({
    path: 'cursor',
    message: `must be the next_cursor of an answer, not ${quoted(text)}`,
  });
}
