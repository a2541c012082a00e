// The definition of completeness, written as simply as possible, however slow.

import { DAY_MS, HOUR_MS } from '../../../server/durations.ts';

type Stream = 'decisions' | 'llm_invocations';
export type Event = {
  stream: Stream;
  emitter: string;
  sequence: number;
  /** Null: absent or malformed. */
  dropped: number | null;
  agent_name: string;
  occurredAtMs: number;
  receivedAtMs: number;
};
export type Close = {
  stream: Stream;
  emitter: string;
  emitted: number;
  dropped: number;
  receivedAtMs: number;
};
export type History = { events: Event[]; closes: Close[] };

/** An item at a position in the numbers of an emitter; a close report stands half a number after the last one. */
type Neighbour = {
  place: number;
  dropped: number;
  timeMs: number;
  receivedAtMs: number | null;
  agent_name: string | null;
};

type Range = { fromMs: number; toMs: number; nowMs: number };

export function completenessFrom(history: History, range: Range) {
  const all = { emitters: 0, unclosed: 0, emitted: 0, received: 0, dropped: 0, missing: 0 };
  for (const emitter of emittersOf(history)) {
    const { neighbours, gaps, isClosed, heardMs } = partsOf(emitter, range);
    const inside = neighbours.filter((neighbour) => isInside(neighbour, range));
    if (inside.length === 0) continue;
    all.emitters += 1;
    if (!isClosed && heardMs <= range.nowMs - HOUR_MS) all.unclosed += 1;
    all.received += inside.filter(({ place }) => Number.isInteger(place)).length;
    for (const gap of gaps.filter(({ later }) => isInside(later, range))) {
      all.dropped += gap.dropped;
      all.missing += gap.size - gap.dropped;
    }
  }
  all.emitted = all.received + all.dropped + all.missing;
  const percent = all.emitted === 0 ? null : Math.floor((10_000 * all.received) / all.emitted) / 100;
  return { ...all, percent };
}

/** The gaps of the list, in any order. */
export function gapsFrom(history: History, range: Range) {
  return emittersOf(history).flatMap((emitter) => {
    const [first] = [...emitter.events, ...emitter.closes];
    return partsOf(emitter, range)
      .gaps.filter(({ later }) => isInside(later, range))
      .map(({ earlier, later, from, size, dropped }) => ({
        emitter: first?.emitter,
        agent_name: later.agent_name ?? earlier.agent_name ?? '',
        stream: first?.stream,
        from_sequence: from,
        to_sequence: from + size - 1,
        dropped,
        missing: size - dropped,
        after: earlier.receivedAtMs === null ? null : new Date(earlier.receivedAtMs).toISOString(),
        before: new Date(later.receivedAtMs ?? 0).toISOString(),
      }));
  });
}

function emittersOf({ events, closes }: History): History[] {
  const keyOf = ({ stream, emitter }: Event | Close) => `${stream} ${emitter}`;
  const keys = new Set([...events, ...closes].map(keyOf));
  return [...keys].map((key) => ({
    events: events.filter((event) => keyOf(event) === key),
    closes: closes.filter((close) => keyOf(close) === key),
  }));
}

function partsOf({ events, closes }: History, { nowMs }: Range) {
  const isAlive = ({ occurredAtMs }: Event) => occurredAtMs >= nowMs - 90 * DAY_MS;
  const neighbours: Neighbour[] = [];
  const records = events
    .filter(isAlive)
    .sort((a, b) => a.sequence - b.sequence || a.receivedAtMs - b.receivedAtMs);
  for (const { sequence, dropped, occurredAtMs, receivedAtMs, agent_name } of records)
    if (!neighbours.some(({ place }) => place === sequence))
      neighbours.push({
        place: sequence,
        dropped: dropped ?? 0,
        timeMs: occurredAtMs,
        receivedAtMs,
        agent_name,
      });
  const [close] = closes.toSorted((a, b) => a.receivedAtMs - b.receivedAtMs);
  if (close !== undefined)
    neighbours.push({
      place: close.emitted + 0.5,
      dropped: close.dropped,
      timeMs: close.receivedAtMs,
      receivedAtMs: close.receivedAtMs,
      agent_name: null,
    });
  neighbours.sort((a, b) => a.place - b.place);
  const firstPlace = neighbours[0]?.place ?? 0;
  const isBegunExpired = events.some((event) => !isAlive(event) && event.sequence < firstPlace);
  const zero = { place: 0, dropped: 0, timeMs: 0, receivedAtMs: null, agent_name: null };
  const gaps = [];
  // Earlier drops explain gaps that are no longer known.
  let explained = isBegunExpired ? (neighbours[0]?.dropped ?? 0) : 0;
  let earlier: Neighbour | undefined = isBegunExpired ? undefined : zero;
  for (const later of neighbours) {
    if (earlier !== undefined) {
      const from = Math.floor(earlier.place) + 1;
      const size = Math.ceil(later.place) - from;
      const dropped = Math.min(size, Math.max(0, later.dropped - explained));
      if (size > 0) gaps.push({ earlier, later, from, size, dropped });
      explained += Math.max(0, dropped);
    }
    // A close report has no agent of its own.
    earlier = { ...later, agent_name: later.agent_name ?? earlier?.agent_name ?? null };
  }
  const heardMs = Math.max(...[...records, ...closes].map(({ receivedAtMs }) => receivedAtMs));
  return { neighbours, gaps, isClosed: close !== undefined, heardMs };
}

function isInside({ timeMs }: Neighbour, { fromMs, toMs }: Range): boolean {
  return timeMs >= fromMs && timeMs < toMs;
}
