// Test vectors: checkpoints and their signatures. The expected result of each case is written by hand.
import { sign } from 'node:crypto';
import { History, LOG_KEY, ORIGIN, OTHER_KEY } from './history.ts';
import { filesOfLog } from './log.ts';
import { VKEY, history, shown, head, files, size, nothing, changed, stateOf, type Case } from './material.ts';

const made = new History(33);

/** The checkpoint with one more line, signed. */
function extended(line: Buffer): Map<string, Buffer> {
  return changed(files, 'checkpoint', (bytes) => {
    const [text = '', last = ''] = bytes.toString().split('\n\n');
    const body = Buffer.concat([Buffer.from(`${text}\n`), line, Buffer.from('\n')]);
    const id = Buffer.from(last.split(' ')[2] as string, 'base64').subarray(0, 4);
    const signature = Buffer.concat([id, sign(null, body, LOG_KEY)]).toString('base64');
    return Buffer.concat([body, Buffer.from(`\n— ${ORIGIN} ${signature}\n`)]);
  });
}

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
    files: extended(Buffer.from('extension 1')),
    vkey: VKEY,
    expected: { verdicts: [], tree_size: size, checked: 7 },
  },
  'holds-cosigned-by-many': {
    shown,
    files: changed(files, 'checkpoint', (bytes) => {
      const line = (at: number) => `— witness.example/w${at} ${made.bytes(76).toString('base64')}\n`;
      return Buffer.concat([bytes, Buffer.from(Array.from({ length: 120 }, (_, at) => line(at)).join(''))]);
    }),
    vkey: VKEY,
    expected: { verdicts: [], tree_size: size, checked: 7 },
  },
  'signature-of-a-control-character': {
    shown,
    files: extended(Buffer.from('a\tb')),
    vkey: VKEY,
    expected: { verdicts: ['signature_invalid'], tree_size: 0, ...nothing },
  },
  'signature-of-a-text-that-is-not-utf-8': {
    shown,
    files: extended(Buffer.of(0x61, 0xff)),
    vkey: VKEY,
    expected: { verdicts: ['signature_invalid'], tree_size: 0, ...nothing },
  },
  'signature-line-of-a-name-with-a-plus': {
    shown,
    files: changed(files, 'checkpoint', (bytes) =>
      Buffer.concat([bytes, Buffer.from(`— a+b ${made.bytes(76).toString('base64')}\n`)]),
    ),
    vkey: VKEY,
    expected: { verdicts: ['signature_invalid'], tree_size: 0, ...nothing },
  },
  // 68 bytes: the last base64 digit holds four bits, and its last two bits are unused.
  'signature-in-another-spelling': {
    shown,
    files: changed(files, 'checkpoint', (bytes) =>
      Buffer.from(
        bytes
          .toString()
          .replace(/(.)=\n$/, (_, digit: string) => `${String.fromCharCode(digit.charCodeAt(0) + 1)}=\n`),
      ),
    ),
    vkey: VKEY,
    expected: { verdicts: ['signature_invalid'], tree_size: 0, ...nothing },
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
