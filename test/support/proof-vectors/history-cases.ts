// Test vectors: the log together with earlier observations of it, and its tiles. The expected result of each case is written by hand.
import { AT_MS, entryOf, History, rewritten } from './history.ts';
import { checkpointOf, filesOfLog, sha256 } from './log.ts';
import {
  VKEY,
  history,
  entries,
  shown,
  head,
  files,
  size,
  without,
  at,
  nothing,
  oldFiles,
  oldShown,
  oldSize,
  changed,
  flipped,
  seenAt,
  stateOf,
  type Case,
  type State,
} from './material.ts';
import { DAY_MS } from '../../../server/durations.ts';

// Records 2 and 3 were received 60 days after they occurred, and have expired since.
const early = history
  .young(6)
  .map((record, index) =>
    index === 2 || index === 3
      ? history.record({ receivedMs: AT_MS - 31 * DAY_MS, occurredMs: AT_MS - 91 * DAY_MS })
      : record,
  );
const earlyHead = { ...head, entries: early.map(entryOf) };
const earlyShown = early
  .map((record, index) => ({ record, index }))
  .filter(({ index }) => index !== 2 && index !== 3);
const earlyState = (late: [number, number, string][]): State => ({
  checkpoint: checkpointOf({ ...earlyHead, entries: earlyHead.entries.slice(0, 5) }),
  seen: [seenAt(AT_MS - 20 * DAY_MS, 5)],
  late,
});
// The first four records have expired; then the project was silent for 80 days.
const silent = history.young(3);
const silentHead = {
  ...head,
  entries: [...Array.from({ length: 4 }, () => history.bytes(32)), ...silent.map(entryOf)],
};
const silentShown = silent.map((record, at) => ({ record, index: 4 + at }));

// A record that claims to have been received 100 days ago comes after those that were received minutes ago.
const forgedRecord = new History(32).record({
  receivedMs: AT_MS - 100 * DAY_MS,
  occurredMs: AT_MS - 80 * DAY_MS,
});
const forged = { record: forgedRecord, index: size };
const forgedFiles = filesOfLog({ ...head, entries: [...entries, entryOf(forgedRecord)] });

export const historyCases: Record<string, Case> = {
  'holds-extends': {
    shown,
    files,
    state: stateOf(5),
    expected: { verdicts: [], tree_size: size, checked: 7 },
  },
  'holds-extends-nothing': {
    shown,
    files,
    state: stateOf(0),
    expected: { verdicts: [], tree_size: size, checked: 7 },
  },
  'holds-late-and-expired': {
    shown: earlyShown,
    files: filesOfLog(earlyHead),
    state: earlyState([[2, 3, '2026-08-24']]),
    expected: { verdicts: [], tree_size: 6, checked: 4, expired: 2 },
  },
  'missing-late-and-not-expired': {
    shown: earlyShown,
    files: filesOfLog(earlyHead),
    state: earlyState([
      [2, 2, '2026-08-24'],
      [3, 3, '2026-08-25'],
    ]),
    expected: { verdicts: ['missing'], tree_size: 6, checked: 4, missing: 1, expired: 1 },
  },
  'holds-seen-before-it-expired': {
    shown: silentShown,
    files: filesOfLog(silentHead),
    state: {
      checkpoint: checkpointOf({ ...silentHead, entries: silentHead.entries.slice(0, 4) }),
      seen: [seenAt(AT_MS - 85 * DAY_MS, 4)],
    },
    expected: { verdicts: [], tree_size: 7, checked: 3, expired: 4 },
  },
  'missing-or-expired-unseen': {
    shown: silentShown,
    files: filesOfLog(silentHead),
    vkey: VKEY,
    expected: { verdicts: ['missing'], tree_size: 7, checked: 3, missing: 4 },
  },
  'missing-before-a-forged-time': {
    shown: [...shown.slice(0, 5), forged],
    files: forgedFiles,
    vkey: VKEY,
    expected: { verdicts: ['missing'], tree_size: 8, checked: 6, missing: 2 },
  },
  'missing-before-a-forged-time-unseen': {
    shown: [forged],
    files: forgedFiles,
    state: stateOf(3),
    // Among the first three, only the forged record reveals it: see docs/proof.md, "What is proven".
    expected: { verdicts: ['missing'], tree_size: 8, checked: 1, missing: 4, expired: 3 },
  },
  'history-old-copy': {
    shown: shown.slice(0, 5),
    files: filesOfLog({ ...head, entries: entries.slice(0, 5) }),
    state: stateOf(7),
    expected: { verdicts: ['history_rewritten'], tree_size: 5, checked: 5 },
  },
  'history-fork': {
    shown: shown.map((one) => (one.index === 4 ? { record: rewritten(at(4)), index: 4 } : one)),
    files: filesOfLog({
      ...head,
      entries: entries.map((entry, index) => (index === 4 ? entryOf(rewritten(at(4))) : entry)),
    }),
    state: stateOf(5),
    expected: { verdicts: ['history_rewritten'], tree_size: size, checked: 7 },
  },
  'history-entry-and-record-taken-out': {
    shown: without(2).map(({ record }, index) => ({ record, index })),
    files: filesOfLog({ ...head, entries: entries.filter((_, index) => index !== 2) }),
    state: stateOf(5),
    expected: { verdicts: ['history_rewritten'], tree_size: 6, checked: 6 },
  },
  'history-tile-altered': {
    shown,
    files: changed(files, 'tile/0/000.p/7', flipped(70)),
    vkey: VKEY,
    expected: { verdicts: ['history_rewritten'], tree_size: size, ...nothing },
  },
  'history-tile-missing': {
    shown,
    files: changed(files, 'tile/0/000.p/7', () => undefined),
    vkey: VKEY,
    expected: { verdicts: ['history_rewritten'], tree_size: size, ...nothing },
  },
  'history-upper-tile-altered': {
    shown: oldShown,
    files: changed(oldFiles, 'tile/1/000.p/1', flipped(3)),
    vkey: VKEY,
    expected: { verdicts: ['history_rewritten'], tree_size: oldSize, ...nothing },
  },
  'history-entries-altered': {
    shown,
    files: changed(files, 'tile/entries/000.p/7', flipped(40)),
    vkey: VKEY,
    expected: { verdicts: ['history_rewritten'], tree_size: size, ...nothing },
  },
  'history-signed-root-of-another-tree': {
    shown,
    files: new Map([
      ...files,
      ['checkpoint', Buffer.from(checkpointOf({ ...head, entries: entries.map((entry) => sha256(entry)) }))],
    ]),
    vkey: VKEY,
    expected: { verdicts: ['history_rewritten'], tree_size: size, ...nothing },
  },
};
