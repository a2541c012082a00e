// Writes the test vectors of docs/proof.md: node test/support/proof-vectors/generate.ts [DIRECTORY]
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeCases } from './before-cases.ts';
import { historyCases } from './history-cases.ts';
import { AT_MS, PROJECT, ROOT_KEYS } from './history.ts';
import { writeFiles } from './log.ts';
import { type Case, type Expected, type Shown, type State, VKEY } from './material.ts';
import { receiptCases } from './receipt-cases.ts';
import { recordCases } from './record-cases.ts';
import { signatureCases } from './signature-cases.ts';

const CASES: Record<string, Case> = {
  ...signatureCases,
  ...recordCases,
  ...historyCases,
  ...beforeCases,
  ...receiptCases,
};
const NO_COUNTS = { altered: 0, missing: 0, added: 0, too_new: 0, expired: 0 };
const NO_RECEIPTS = { missing: 0, too_new: 0, invalid: 0 };
const EXIT_CODES: Record<string, number> = {
  altered: 10,
  missing: 11,
  added: 12,
  history_rewritten: 13,
  signature_invalid: 14,
};

export function writeVectors(directory: string): void {
  for (const [name, one] of Object.entries(CASES)) writeCase(join(directory, name), one);
}

function writeCase(directory: string, one: Case): void {
  const { shown, proofsOnly = [], files, vkey, state, receipts, expected } = one;
  mkdirSync(directory, { recursive: true });
  const write = (name: string, text: string) => writeFileSync(join(directory, name), text);
  write(
    'export.ndjson',
    newestFirst(shown)
      .map(({ record }) => `${record.line}\n`)
      .join(''),
  );
  write(
    'proofs.ndjson',
    newestFirst([...shown, ...proofsOnly])
      .map(proofLine)
      .join(''),
  );
  writeFiles(join(directory, 'log'), new Map([...files, ['keys.json', Buffer.from(`${ROOT_KEYS}\n`)]]));
  if (state !== undefined) write('state.json', `${stateText(state)}\n`);
  if (receipts !== undefined) write('receipts.txt', `${receipts.join('\n')}\n`);
  const args = ['--project', PROJECT, '--at', new Date(AT_MS).toISOString()];
  args.push('--export', 'export.ndjson', '--proofs', 'proofs.ndjson', '--log', 'log');
  if (vkey !== undefined) args.push('--vkey', vkey);
  if (state !== undefined) args.push('--state', 'state.json');
  if (receipts !== undefined) args.push('--receipts', 'receipts.txt');
  write('expected.json', `${JSON.stringify({ args, report: reportOf(one, expected) }, null, 2)}\n`);
}

/** In the service's order of an export: the text of a line begins with the id, so the times are cut out. */
function newestFirst(shown: Shown[]): Shown[] {
  const keyOf = ({ record }: Shown) => record.line.slice(65, 89) + record.event_id;
  return shown.toSorted((a, b) => (keyOf(a) < keyOf(b) ? 1 : keyOf(a) > keyOf(b) ? -1 : 0));
}

function proofLine({ record: { event_id, salt }, index }: Shown): string {
  if (index === undefined) return '';
  return `${JSON.stringify({ event_id, index, salt: salt.toString('base64') })}\n`;
}

const stateText = ({ checkpoint, seen, late = [] }: State): string =>
  JSON.stringify({ format: 1, vkey: VKEY, checkpoint, seen, late });

function reportOf({ vkey, state, receipts }: Case, expected: Expected) {
  const { verdicts, tree_size, receipts: counted, ...counts } = expected;
  const pinned = [
    vkey !== undefined || state !== undefined ? 'log key' : '',
    state === undefined ? '' : 'history',
  ];
  const known = ['log key', 'history', ...(receipts === undefined ? [] : ['root keys'])];
  return {
    project_id: PROJECT,
    verdict: verdicts.at(-1) ?? 'holds',
    exit_code: EXIT_CODES[verdicts.at(-1) ?? ''] ?? 0,
    verdicts,
    tree_size,
    ...NO_COUNTS,
    ...counts,
    receipts: counted === undefined ? null : { ...NO_RECEIPTS, ...counted },
    pinned: known.filter((name) => pinned.includes(name)),
    trusted_on_first_use: known.filter((name) => !pinned.includes(name)),
  };
}

if (import.meta.main) writeVectors(process.argv[2] ?? 'test/vectors/proof');
