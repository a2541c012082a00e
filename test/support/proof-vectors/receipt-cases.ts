// Test vectors: receipts. The expected result of each case is written by hand.
import { VKEY, shown, files, size, at, invented, fresh, receipt, type Case } from './material.ts';

export const receiptCases: Record<string, Case> = {
  'receipts-hold': {
    shown,
    files,
    vkey: VKEY,
    receipts: [receipt(at(2)), '', receipt(at(6)), receipt(at(1), { project: 'another-project' })],
    expected: { verdicts: [], tree_size: size, checked: 7, receipts: { checked: 2 } },
  },
  'receipts-missing': {
    shown,
    files,
    vkey: VKEY,
    receipts: [receipt(at(2)), receipt(invented)],
    expected: { verdicts: ['missing'], tree_size: size, checked: 7, receipts: { checked: 2, missing: 1 } },
  },
  'receipts-too-new': {
    shown,
    files,
    vkey: VKEY,
    receipts: [receipt(fresh)],
    expected: { verdicts: [], tree_size: size, checked: 7, receipts: { checked: 1, too_new: 1 } },
  },
  'receipts-with-a-time-to-come': {
    shown,
    files,
    vkey: VKEY,
    receipts: [receipt(fresh, { iatMs: Date.parse('2099-01-01T00:00:00.000Z') })],
    expected: {
      verdicts: ['missing'],
      tree_size: size,
      checked: 7,
      receipts: { checked: 1, missing: 1 },
    },
  },
  'receipts-forged': {
    shown,
    files,
    vkey: VKEY,
    receipts: [
      receipt(at(2)),
      receipt(at(3)).replace(
        /\.([^.]+)$/,
        (_, one: string) => `.${one.startsWith('A') ? 'B' : 'A'}${one.slice(1)}`,
      ),
    ],
    expected: {
      verdicts: ['signature_invalid'],
      tree_size: size,
      checked: 7,
      receipts: { checked: 2, invalid: 1 },
    },
  },
};
