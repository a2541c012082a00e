import { hash } from 'node:crypto';
import { leafHash } from './check-tree.ts';
import type { Findings } from './findings.ts';
import { Holders } from './holders.ts';
import { joinProofs, type ProofLine } from './join-proofs.ts';
import type { LogDirectory } from './log-directory.ts';
import type { Progress } from './progress.ts';
import type { RecordFields } from './record-line.ts';
import { DAY_MS } from '../../durations.ts';
import { RETENTION_MS } from '../../limits.ts';
import { GRACE_MS, isTooNew } from './times.ts';

export type RecordFiles = { export: string; proofs: string };
/** A record that was received more than GRACE_MS after it occurred, and therefore expires early. */
export type LateRecord = { index: number; occurredMs: number };
type CheckedRecords = {
  counts: { checked: number; altered: number; added: number; too_new: number };
  holders: Holders;
  /** Among the records that hold an index: when the first one occurred, and when the last one was received. */
  oldestMs: number;
  newestMs: number;
  late: LateRecord[];
};
type CheckRecords = {
  log: LogDirectory;
  size: number;
  /** The size that the log had before the export was made. */
  sizeBefore: number;
  /** When the export was made, in milliseconds since the epoch. */
  atMs: number;
  /** The proofs are so much younger than the export that each of its records must be in the log. */
  isSettled: boolean;
  findings: Findings;
  progress: Progress;
};
/** A record that holds no index, and the index that it names. */
type Unplaced = RecordFields & { index: number | null };

/** Finds for each record of an export whether the log has it unchanged. The tiles must have been checked. */
export function checkRecords(files: RecordFiles, options: CheckRecords): CheckedRecords {
  const { log, size, sizeBefore, atMs, progress } = options;
  const holders = new Holders(size);
  const counts = { checked: 0, altered: 0, added: 0, too_new: 0 };
  const checked: CheckedRecords = {
    counts,
    holders,
    oldestMs: Number.POSITIVE_INFINITY,
    newestMs: Number.NEGATIVE_INFINITY,
    late: [],
  };
  const unplaced: Unplaced[] = [];
  let unreadable = 0;
  for (const { line, fields, proof } of joinProofs(files.export, files.proofs)) {
    counts.checked += 1;
    progress.report(counts.checked);
    const index = proof?.index ?? null;
    if (fields === undefined) unreadable += 1;
    else if (proof === undefined || index === null || index >= size || holders.isHeld(index))
      unplaced.push({ ...fields, index });
    else if (leafOf(line, proof)?.equals(log.leaf(index, size)) === true) hold(checked, index, fields);
    else unplaced.push({ ...fields, index });
  }
  holders.allowNewFrom(sizeBefore, atMs - DAY_MS);
  new Judgement(checked, options).judge(unplaced, unreadable);
  counts.too_new += holders.newcomers;
  return checked;
}

function hold(checked: CheckedRecords, index: number, { occurredMs, receivedMs }: RecordFields): void {
  checked.holders.hold(index, receivedMs);
  checked.oldestMs = Math.min(checked.oldestMs, occurredMs);
  checked.newestMs = Math.max(checked.newestMs, receivedMs);
  if (receivedMs - occurredMs > GRACE_MS) checked.late.push({ index, occurredMs });
}

/** A longer salt could hold the beginning of a line, and the rest of the line would pass as another record. */
const SALT = /^[A-Za-z0-9+/]{21}[AQgw]==$/;

const leafOf = (line: Buffer, { salt }: ProofLine): Buffer | undefined =>
  SALT.test(salt)
    ? leafHash(hash('sha256', Buffer.concat([Buffer.from(salt, 'base64'), line]), 'buffer'))
    : undefined;

/** Judges the records that hold no index (docs/proof.md, "Verdicts"). */
class Judgement {
  readonly #checked: CheckedRecords;
  readonly #options: CheckRecords;

  constructor(checked: CheckedRecords, options: CheckRecords) {
    this.#checked = checked;
    this.#options = options;
  }

  judge(unplaced: Unplaced[], unreadable: number): void {
    const { size, atMs, isSettled } = this.#options;
    const named = unplaced.filter((record): record is Unplaced & { index: number } => record.index !== null);
    this.#judgeNamed(named.filter(({ index }) => index < size));
    const left = this.#fillGaps(unplaced.filter(({ index }) => index === null).sort(byReceipt));
    this.#judgeUnreadable(unreadable);
    const latestMs = Math.max(atMs, this.#checked.newestMs);
    // The others expired between the downloads of export and proofs.
    const alive = left.filter(({ occurredMs }) => occurredMs >= atMs - RETENTION_MS);
    this.#judgeNewcomers(alive, isSettled ? Number.POSITIVE_INFINITY : latestMs);
    this.#judgeNewcomers(
      named.filter(({ index }) => index >= size),
      latestMs,
    );
  }

  #judgeNamed(records: (Unplaced & { index: number })[]): void {
    const { holders } = this.#checked;
    for (const { event_id, index } of records)
      if (holders.isHeld(index))
        this.#count('added', `record ${event_id} names the index ${index}, which another record holds`);
      else {
        holders.markAltered(index);
        this.#count('altered', `record ${event_id} is not what entered the log at index ${index}`);
      }
  }

  /** Matches records without an index, in the order of their receipt, with the gaps between whose neighbours they were received. */
  #fillGaps(records: Unplaced[]): Unplaced[] {
    const { holders } = this.#checked;
    const isMatched = new Uint8Array(records.length);
    for (const { from, to, afterMs, beforeMs } of records.length === 0 ? [] : holders.gaps()) {
      let index = from;
      for (let at = firstFrom(records, afterMs); at < records.length && index < to; at += 1) {
        const record = records[at] as Unplaced;
        if (record.receivedMs > beforeMs) break;
        if (isMatched[at] === 1) continue;
        isMatched[at] = 1;
        holders.markAltered(index);
        this.#count('altered', `record ${record.event_id} is not what entered the log near index ${index}`);
        index += 1;
      }
    }
    return records.filter((_, at) => isMatched[at] === 0);
  }

  #judgeUnreadable(lines: number): void {
    const { holders } = this.#checked;
    for (let line = 0, free = holders.firstFree(0); line < lines; line += 1) {
      if (free !== undefined) {
        holders.markAltered(free);
        free = holders.firstFree(free);
      }
      this.#count('altered', 'a line of the export is not that of a record');
    }
  }

  #judgeNewcomers(records: Unplaced[], latestMs: number): void {
    for (const { event_id, receivedMs, index } of records)
      if (isTooNew(receivedMs, latestMs)) this.#checked.counts.too_new += 1;
      else if (index === null) this.#count('added', `record ${event_id} is not in the log`);
      else this.#count('added', `record ${event_id} names the index ${index}, which the log does not have`);
  }

  #count(verdict: 'altered' | 'added', problem: string): void {
    this.#checked.counts[verdict] += 1;
    this.#options.findings.add(verdict, problem);
  }
}

function byReceipt(a: RecordFields, b: RecordFields): number {
  return a.receivedMs - b.receivedMs || (a.event_id < b.event_id ? -1 : 1);
}

/** The position of the first record that was not received before a time. The records are in the order of their receipt. */
function firstFrom(records: Unplaced[], ms: number): number {
  let [low, high] = [0, records.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((records[middle] as Unplaced).receivedMs < ms) low = middle + 1;
    else high = middle;
  }
  return low;
}
