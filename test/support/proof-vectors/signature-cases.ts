// Test vectors: checkpoints and their signatures. What must come out of each case is written by hand.
import { sign } from 'node:crypto';
import { LOG_KEY, ORIGIN, OTHER_KEY } from './history.ts';
import { filesOfLog } from './log.ts';
import { VKEY, history, shown, head, files, size, nothing, changed, stateOf, type Case } from './material.ts';

export const signatureCases: Record<string, Case> = {
  holds: { shown, files, vkey: VKEY, expected: { verdicts: [], tree_size: size, checked: 7 } },
  'holds-key-on-first-use': { shown, files, expected: { verdicts: [], tree_size: size, checked: 7 } },
  'holds-empty-log': {
    shown: [],
    files: filesOfLog({ ...head, entries: [] }),
    vkey: VKEY,
    expected: { verdicts: [], tree_size: 0, ...nothing },
  },
  'holds-cosigned': {
    shown,
    files: changed(files, 'checkpoint', (bytes) => {
      const witness = Buffer.concat([Buffer.from('0011223300000000692188c0', 'hex'), history.bytes(64)]);
      return Buffer.concat([bytes, Buffer.from(`— witness.example/w1 ${witness.toString('base64')}\n`)]);
    }),
    vkey: VKEY,
    expected: { verdicts: [], tree_size: size, checked: 7 },
  },
  'holds-extension-line': {
    shown,
    files: changed(files, 'checkpoint', (bytes) => {
      const [text = '', last = ''] = bytes.toString().split('\n\n');
      const body = `${text}\nextension 1\n`;
      const id = Buffer.from(last.split(' ')[2] as string, 'base64').subarray(0, 4);
      const signature = Buffer.concat([id, sign(null, Buffer.from(body), LOG_KEY)]).toString('base64');
      return Buffer.from(`${body}\n— ${ORIGIN} ${signature}\n`);
    }),
    vkey: VKEY,
    expected: { verdicts: [], tree_size: size, checked: 7 },
  },
  'signature-by-another-key': {
    shown,
    files: filesOfLog({ ...head, key: OTHER_KEY }),
    vkey: VKEY,
    expected: { verdicts: ['signature_invalid'], tree_size: 0, ...nothing },
  },
  'signature-by-another-key-than-before': {
    shown,
    files: filesOfLog({ ...head, key: OTHER_KEY }),
    state: stateOf(5),
    expected: { verdicts: ['signature_invalid'], tree_size: 0, ...nothing },
  },
  'signature-of-another-size': {
    shown,
    files: changed(files, 'checkpoint', (bytes) => Buffer.from(bytes.toString().replace('\n7\n', '\n6\n'))),
    vkey: VKEY,
    expected: { verdicts: ['signature_invalid'], tree_size: 0, ...nothing },
  },
  'signature-of-another-log': {
    shown,
    files: filesOfLog({ ...head, origin: 'gatehouse/another-project' }),
    expected: { verdicts: ['signature_invalid'], tree_size: 0, ...nothing },
  },
};
