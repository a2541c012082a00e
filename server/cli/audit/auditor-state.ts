import { existsSync, readFileSync } from 'node:fs';
import { CommandError } from '../command-error.ts';
import type { LateRecord } from './check-records.ts';
import { replaceFile } from '../../durable-files.ts';
import { GRACE_MS, millisecondsOf } from './times.ts';

/** The state that an auditor keeps between two visits (docs/proof.md, "State file"). */
export type AuditorState = {
  format: 1;
  vkey: string;
  checkpoint: string;
  /** When the log was seen, and with how many entries. */
  seen: [time: string, size: number][];
  /** Entries of records that expire early: from index, to index (inclusive), the last day on which one of them occurred. */
  late: [from: number, to: number, day: string][];
};

/** Undefined if there is no file. Throws a CommandError for a file that does not hold a state. */
export function readState(path: string): AuditorState | undefined {
  if (!existsSync(path)) return undefined;
  let state: unknown;
  try {
    state = JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    throw new CommandError(`The state file ${path} is not JSON`);
  }
  if (isState(state)) return state;
  throw new CommandError(`The state file ${path} is not one of this version`);
}

function isState(value: unknown): value is AuditorState {
  const { format, vkey, checkpoint, seen, late } = (value ?? {}) as Record<string, unknown>;
  const areRows = (rows: unknown, isRow: (row: unknown[]) => boolean) =>
    Array.isArray(rows) && rows.every((row) => Array.isArray(row) && isRow(row));
  return (
    format === 1 &&
    typeof vkey === 'string' &&
    typeof checkpoint === 'string' &&
    areRows(seen, ([time, size]) => isTime(time) && Number.isSafeInteger(size)) &&
    areRows(
      late,
      ([from, to, day]) =>
        Number.isSafeInteger(from) && Number.isSafeInteger(to) && isTime(`${String(day)}T00:00:00.000Z`),
    )
  );
}

const isTime = (value: unknown): boolean => typeof value === 'string' && !Number.isNaN(millisecondsOf(value));

type Visit = {
  vkey: string;
  checkpoint: string;
  size: number;
  nowMs: number;
  /** When the oldest record that may still be alive occurred. */
  oldestMs: number;
  late: LateRecord[];
};

/** The state after a visit. Drops parts so old that every entry has expired. */
export function nextState(state: AuditorState | undefined, visit: Visit): AuditorState {
  const { vkey, checkpoint, size, nowMs, oldestMs } = visit;
  const now = new Date(nowMs).toISOString();
  const earlier = state?.seen ?? [];
  // Keeps the first and the last visit of a day: without the last, entries added between them would count as seen only at the next visit.
  const isFull = earlier.slice(-2).filter(([time]) => time.slice(0, 10) === now.slice(0, 10)).length === 2;
  const seen: AuditorState['seen'] = [...(isFull ? earlier.slice(0, -1) : earlier), [now, size]];
  const newestExplained = seen.findLastIndex(([time]) => Date.parse(time) <= oldestMs + GRACE_MS);
  const explained = seen[newestExplained]?.[1] ?? 0;
  return {
    format: 1,
    vkey,
    checkpoint,
    seen: seen.slice(Math.max(0, newestExplained)),
    late: mergeLate([...(state?.late ?? []), ...visit.late.map(rowOf)]).filter(([, to]) => to >= explained),
  };
}

const rowOf = ({ index, occurredMs }: LateRecord): [number, number, string] => [
  index,
  index,
  new Date(occurredMs).toISOString().slice(0, 10),
];

/** Merges adjacent rows of the same day. */
function mergeLate(rows: AuditorState['late']): AuditorState['late'] {
  const merged: AuditorState['late'] = [];
  for (const [from, to, day] of rows.toSorted((a, b) => a[0] - b[0] || a[1] - b[1])) {
    const last = merged.at(-1);
    if (last?.[2] === day && from <= last[1] + 1) last[1] = Math.max(last[1], to);
    else merged.push([from, to, day]);
  }
  return merged;
}

export function writeState(path: string, state: AuditorState): void {
  replaceFile(path, `${JSON.stringify(state)}\n`);
}

/**
 * Whether a row of `late` covers the index whose records may have expired by the time at which those of `oldestMs` do. Only the day of the
 * row is known.
 */
export function hasExpiredEarly(
  { late }: Pick<AuditorState, 'late'>,
  index: number,
  oldestMs: number,
): boolean {
  return late.some(
    ([from, to, day]) => from <= index && index <= to && Date.parse(`${day}T00:00:00Z`) <= oldestMs,
  );
}
