// What the cases of the test vectors are built from: a young log, and one whose first records have expired.
import { AT_MS, entryOf, History, LOG_KEY, ORIGIN, receiptOf, type Logged, type Receipt } from './history.ts';
import { checkpointOf, filesOfLog, vkeyOf } from './log.ts';
import { DAY_MS, MINUTE_MS } from '../../../server/durations.ts';

/** A line of the export with its line of the proofs. `index`: undefined if it has none, null if it is not in the log yet. */
export type Shown = { record: Logged; index: number | null | undefined };
export type State = { seen: [string, number][]; late?: [number, number, string][]; checkpoint?: string };
export type Case = {
  shown: Shown[];
  /** Lines of the proofs without a record. */
  proofsOnly?: Shown[];
  files: Map<string, Buffer>;
  vkey?: string;
  state?: State;
  receipts?: string[];
  expected: Expected;
};
type Counts = {
  checked: number;
  altered?: number;
  missing?: number;
  added?: number;
  too_new?: number;
  expired?: number;
};
export type Expected = Counts & {
  verdicts: string[];
  tree_size: number;
  receipts?: { checked: number; missing?: number; too_new?: number; invalid?: number };
};

export const VKEY = vkeyOf(ORIGIN, LOG_KEY);
export const history = new History(12);
export const young = history.young(7);
export const entries = young.map(entryOf);
export const shown: Shown[] = young.map((record, index) => ({ record, index }));
export const head = { origin: ORIGIN, entries, key: LOG_KEY };
export const files = filesOfLog(head);
export const size = entries.length;
export const without = (index: number) => shown.filter((one) => one.index !== index);
export const replaced = (index: number, ...by: Shown[]) =>
  shown.flatMap((one) => (one.index === index ? by : [one]));
export const at = (index: number): Logged => young[index] as Logged;
export const nothing = { checked: 0 };

// A log whose first 252 records have expired.
export const EXPIRED = 252;
export const living = history.old(12);
export const oldEntries = [
  ...Array.from({ length: EXPIRED }, () => history.bytes(32)),
  ...living.map(entryOf),
];
export const oldHead = { origin: ORIGIN, entries: oldEntries, key: LOG_KEY };
export const oldFiles = filesOfLog(oldHead);
export const oldShown: Shown[] = living.map((record, at) => ({ record, index: EXPIRED + at }));
export const oldSize = oldEntries.length;

export const changed = (
  from: Map<string, Buffer>,
  path: string,
  change: (bytes: Buffer) => Buffer | undefined,
) => {
  const bytes = change(Buffer.from(from.get(path) as Buffer));
  const others = [...from].filter(([name]) => name !== path);
  return new Map(bytes === undefined ? others : [...others, [path, bytes]]);
};
export const flipped = (place: number) => (bytes: Buffer) => {
  bytes[place] = (bytes[place] as number) ^ 1;
  return bytes;
};
export const invented = history.record({ receivedMs: AT_MS - 8 * MINUTE_MS - 20_000 });
export const fresh = history.record({ receivedMs: AT_MS - 3_000 });
export const later = history.record({ receivedMs: AT_MS - 9_000 });
export const receipt = (record: Logged, changes: Partial<Receipt> = {}) =>
  receiptOf({ event_id: record.event_id, entry: entryOf(record), iatMs: record.received_at, ...changes });
export const seenAt = (ms: number, count: number): [string, number] => [new Date(ms).toISOString(), count];
export const stateOf = (count: number, more: Partial<State> = {}): State => ({
  checkpoint: checkpointOf({ ...head, entries: entries.slice(0, count) }),
  seen: [seenAt(AT_MS - DAY_MS, count)],
  ...more,
});
