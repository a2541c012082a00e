// Test vectors: records together with their log. The expected result of each case is written by hand.
import { HOUR_MS } from '../../../server/durations.ts';
import { AT_MS, entryOf, History, type Logged, rewritten } from './history.ts';
import { filesOfLog } from './log.ts';
import {
  VKEY,
  shown,
  files,
  size,
  entries,
  head,
  without,
  replaced,
  at,
  EXPIRED,
  oldFiles,
  oldShown,
  oldSize,
  flipped,
  invented,
  fresh,
  later,
  type Case,
} from './material.ts';

const made = new History(31);
const TO_COME_MS = Date.parse('2099-01-01T00:00:00.000Z');
const INNER = made.record({ receivedMs: AT_MS - HOUR_MS });
const nested = made.record({ receivedMs: AT_MS - HOUR_MS });
nested.line = nested.line.replace(
  /"arguments":\{[^}]*\}/,
  `"arguments":{"note":${INNER.line.replace(/,"received_at.*/, '}')}}`,
);

function cutOff({ line, salt, ...record }: Logged): Logged {
  const cut = line.indexOf('{', 1 + line.indexOf('"note"'));
  return {
    ...record,
    event_id: INNER.event_id,
    line: line.slice(cut),
    salt: Buffer.concat([salt, Buffer.from(line.slice(0, cut))]),
  };
}

export const recordCases: Record<string, Case> = {
  'holds-expired': {
    shown: oldShown,
    files: oldFiles,
    vkey: VKEY,
    expected: { verdicts: [], tree_size: oldSize, checked: 12, expired: EXPIRED },
  },
  'holds-too-new': {
    shown: [...shown, { record: later, index: size }, { record: fresh, index: null }],
    files,
    vkey: VKEY,
    expected: { verdicts: [], tree_size: size, checked: 9, too_new: 2 },
  },
  'altered-record': {
    shown: replaced(3, { record: rewritten(at(3)), index: 3 }),
    files,
    vkey: VKEY,
    expected: { verdicts: ['altered'], tree_size: size, checked: 7, altered: 1 },
  },
  'altered-record-without-index': {
    shown: replaced(3, { record: rewritten(at(3)), index: null }),
    files,
    vkey: VKEY,
    expected: { verdicts: ['altered'], tree_size: size, checked: 7, altered: 1 },
  },
  'altered-salt': {
    shown: replaced(2, { record: { ...at(2), salt: flipped(5)(Buffer.from(at(2).salt)) }, index: 2 }),
    files,
    vkey: VKEY,
    expected: { verdicts: ['altered'], tree_size: size, checked: 7, altered: 1 },
  },
  // The beginning of the line has moved into the salt; what follows reads as a record.
  'altered-salt-of-another-length': {
    shown: [...shown, { record: cutOff(nested), index: size }],
    files: filesOfLog({ ...head, entries: [...entries, entryOf(nested)] }),
    vkey: VKEY,
    expected: { verdicts: ['altered'], tree_size: size + 1, checked: 8, altered: 1 },
  },
  'altered-to-a-day-that-no-month-has': {
    shown: replaced(4, {
      record: { ...at(4), line: at(4).line.replace(/(received_at":"\d{4})-..-../, '$1-02-30') },
      index: 4,
    }),
    files,
    vkey: VKEY,
    expected: { verdicts: ['altered'], tree_size: size, checked: 7, altered: 1 },
  },
  'altered-swapped': {
    shown: shown.map(({ record, index }) => ({
      record,
      index: index === 1 ? 4 : index === 4 ? 1 : (index ?? 0),
    })),
    files,
    vkey: VKEY,
    expected: { verdicts: ['altered'], tree_size: size, checked: 7, altered: 2 },
  },
  'altered-all': {
    shown: shown.map(({ record }) => ({ record: rewritten(record), index: null })),
    files,
    vkey: VKEY,
    expected: { verdicts: ['altered'], tree_size: size, checked: 7, altered: 7 },
  },
  'altered-unreadable': {
    shown: replaced(4, {
      record: { ...at(4), line: at(4).line.replace('"received_at":"2', '"received_at":"x') },
      index: 4,
    }),
    files,
    vkey: VKEY,
    expected: { verdicts: ['altered'], tree_size: size, checked: 7, altered: 1 },
  },
  'missing-record': {
    shown: without(3),
    files,
    vkey: VKEY,
    expected: { verdicts: ['missing'], tree_size: size, checked: 6, missing: 1 },
  },
  'missing-record-with-proof': {
    shown: without(3),
    proofsOnly: [{ record: at(3), index: 3 }],
    files,
    vkey: VKEY,
    expected: { verdicts: ['missing'], tree_size: size, checked: 6, missing: 1 },
  },
  'missing-oldest': {
    shown: without(0),
    files,
    vkey: VKEY,
    expected: { verdicts: ['missing'], tree_size: size, checked: 6, missing: 1 },
  },
  'missing-newest': {
    shown: without(6),
    files,
    vkey: VKEY,
    expected: { verdicts: ['missing'], tree_size: size, checked: 6, missing: 1 },
  },
  'missing-all': {
    shown: [],
    files,
    vkey: VKEY,
    expected: { verdicts: ['missing'], tree_size: size, checked: 0, missing: 7 },
  },
  'missing-beside-expired': {
    shown: oldShown.filter(({ index }) => index !== 258),
    files: oldFiles,
    vkey: VKEY,
    expected: { verdicts: ['missing'], tree_size: oldSize, checked: 11, missing: 1, expired: EXPIRED },
  },
  'added-record': {
    shown: [...shown, { record: invented, index: null }],
    files,
    vkey: VKEY,
    expected: { verdicts: ['added'], tree_size: size, checked: 8, added: 1 },
  },
  'added-record-without-proof': {
    shown: [...shown, { record: invented, index: undefined }],
    files,
    vkey: VKEY,
    expected: { verdicts: ['added'], tree_size: size, checked: 8, added: 1 },
  },
  'added-copy': {
    shown: replaced(2, { record: at(2), index: 2 }, { record: at(2), index: 2 }),
    files,
    vkey: VKEY,
    expected: { verdicts: ['added'], tree_size: size, checked: 8, added: 1 },
  },
  'added-with-the-index-of-another': {
    shown: [...shown, { record: invented, index: 3 }],
    files,
    vkey: VKEY,
    expected: { verdicts: ['added'], tree_size: size, checked: 8, added: 1 },
  },
  'added-with-an-index-beyond-the-log': {
    shown: [...shown, { record: invented, index: 99 }],
    files,
    vkey: VKEY,
    expected: { verdicts: ['added'], tree_size: size, checked: 8, added: 1 },
  },
  'added-with-the-next-index': {
    shown: [...oldShown, { record: made.record({ receivedMs: AT_MS - 2 * HOUR_MS }), index: oldSize }],
    files: oldFiles,
    vkey: VKEY,
    expected: { verdicts: ['added'], tree_size: oldSize, checked: 13, added: 1, expired: EXPIRED },
  },
  'added-with-a-time-to-come': {
    shown: [
      ...shown,
      { record: made.record({ receivedMs: TO_COME_MS }), index: null },
      { record: made.record({ receivedMs: TO_COME_MS }), index: size },
    ],
    files,
    vkey: VKEY,
    expected: { verdicts: ['added'], tree_size: size, checked: 9, added: 2 },
  },
  'missing-and-added-later': {
    shown: [...without(1), { record: invented, index: null }],
    files,
    vkey: VKEY,
    expected: { verdicts: ['missing', 'added'], tree_size: size, checked: 7, missing: 1, added: 1 },
  },
  'altered-missing-added': {
    shown: [
      ...replaced(3, { record: rewritten(at(3)), index: 3 }).filter(({ index }) => index !== 5),
      { record: invented, index: null },
    ],
    files,
    vkey: VKEY,
    expected: {
      verdicts: ['altered', 'missing', 'added'],
      tree_size: size,
      checked: 7,
      altered: 1,
      missing: 1,
      added: 1,
    },
  },
};
