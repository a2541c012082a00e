// Test vectors: a checkpoint from before the export together with the log. The expected result of each case is written by hand.
import { entryOf, LOG_KEY, ORIGIN, OTHER_KEY } from './history.ts';
import { checkpointOf, filesOfLog } from './log.ts';
import {
  entries,
  EXPIRED,
  fresh,
  head,
  files,
  nothing,
  oldEntries,
  oldFiles,
  oldShown,
  oldSize,
  shown,
  size,
  stateOf,
  VKEY,
  without,
  type Case,
} from './material.ts';

const withBefore = (log: Map<string, Buffer>, before: Buffer[], key = LOG_KEY) =>
  new Map([
    ...log,
    ['checkpoint.before', Buffer.from(checkpointOf({ origin: ORIGIN, entries: before, key }))],
  ]);
const before = (count: number) => withBefore(files, entries.slice(0, count));

export const beforeCases: Record<string, Case> = {
  'holds-newer-than-the-export': {
    shown: shown.filter(({ index }) => index !== 4 && index !== 6),
    files: before(4),
    vkey: VKEY,
    expected: { verdicts: [], tree_size: size, checked: 5, too_new: 2 },
  },
  'holds-newer-than-proofs-and-export': {
    shown: [...shown, { record: fresh, index: null }],
    files: withBefore(filesOfLog({ ...head, entries: [...entries, entryOf(fresh)] }), entries),
    vkey: VKEY,
    expected: { verdicts: [], tree_size: size + 1, checked: 8, too_new: 2 },
  },
  'missing-from-before-the-export': {
    shown: without(3),
    files: before(4),
    vkey: VKEY,
    expected: { verdicts: ['missing'], tree_size: size, checked: 6, missing: 1 },
  },
  'missing-across-the-size-before': {
    shown: shown.filter(({ index }) => index !== 3 && index !== 4),
    files: before(4),
    vkey: VKEY,
    expected: { verdicts: ['missing'], tree_size: size, checked: 5, missing: 1, too_new: 1 },
  },
  'missing-seen-since-the-size-before': {
    shown: without(4),
    files: before(4),
    state: stateOf(5),
    expected: { verdicts: ['missing'], tree_size: size, checked: 6, missing: 1 },
  },
  'missing-before-a-record-of-days-ago': {
    shown: oldShown.filter(({ index }) => index !== 258),
    files: withBefore(oldFiles, oldEntries.slice(0, EXPIRED)),
    vkey: VKEY,
    expected: { verdicts: ['missing'], tree_size: oldSize, checked: 11, missing: 1, expired: EXPIRED },
  },
  'history-other-before-the-export': {
    shown,
    files: withBefore(files, entries.slice(1, 5)),
    vkey: VKEY,
    expected: { verdicts: ['history_rewritten'], tree_size: size, checked: 7 },
  },
  'history-longer-before-the-export': {
    shown,
    files: withBefore(files, [...entries, entryOf(fresh)]),
    vkey: VKEY,
    expected: { verdicts: ['history_rewritten'], tree_size: size, checked: 7 },
  },
  'signature-of-another-before-the-export': {
    shown,
    files: withBefore(files, entries, OTHER_KEY),
    vkey: VKEY,
    expected: { verdicts: ['signature_invalid'], tree_size: size, ...nothing },
  },
};
