import { createPrivateKey } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { entryOf, OTHER_KEY, rewritten } from '../support/proof-vectors/history.ts';
import { filesOfLog, writeFiles } from '../support/proof-vectors/log.ts';

/** A project in which an attacker may change anything: ids in the order in which its events were sent. */
export type Target = { projectId: string; ids: string[] };
/** The files that an auditor has of a project: see docs/proof.md. */
export type AuditFiles = { export: string; proofs: string; log: string; state: string };

type Attack = { name: string; expected: number };
/** Statements on the stopped store. The service signs and serves whatever they leave. */
export type StoreAttack = Attack & { statements: (target: Target) => string[] };
/** Changes to the files of an auditor. logKey: PEM file of the key, which an operator has. */
export type FileAttack = Attack & {
  change: (files: AuditFiles, context: { projectId: string; logKey: string }) => void;
};

const at = ({ ids }: Target, share: number): string => ids[Math.floor(ids.length * share)] as string;
const row = ({ projectId }: Target, id: string) => `project_id = '${projectId}' AND event_id = '${id}'`;
const update = (change: string, where: string) =>
  `ALTER TABLE decisions UPDATE ${change} WHERE ${where} ${WAIT}`;
const remove = (target: Target, id: string) =>
  `ALTER TABLE decisions DELETE WHERE ${row(target, id)} ${WAIT}`;
const WAIT = 'SETTINGS mutations_sync = 1';
const AN_HOUR_AGO = 'received_at - INTERVAL 1 HOUR';
/** A verifier that believed it would treat the record as too new to be in the log. */
const TO_COME = 'received_at + INTERVAL 10 YEAR';
/** A copy of a row with another id, an hour older, that claims to have been received at `received`. */
const insert = (target: Target, id: string, received = AN_HOUR_AGO) =>
  'INSERT INTO decisions SELECT * REPLACE (generateUUIDv4() AS event_id, occurred_at - INTERVAL 1 HOUR AS occurred_at, ' +
  `${received} AS received_at) FROM (SELECT * FROM decisions WHERE ${row(target, id)})`;

export const STORE_ATTACKS: StoreAttack[] = [
  { name: 'nothing', expected: 0, statements: () => [] },
  {
    name: 'flip one byte of one row',
    expected: 10,
    statements: (target) => [
      update(
        'reason = concat(substring(reason, 1, 3), char(bitXor(ascii(substring(reason, 4, 1)), 1)), substring(reason, 5))',
        row(target, at(target, 0.3)),
      ),
    ],
  },
  {
    name: 'swap the reasons of two rows',
    expected: 10,
    statements: (target) => {
      const [a, b] = [at(target, 0.2), at(target, 0.7)];
      const other = `if(event_id = '${a}', 'reason ${Math.floor(target.ids.length * 0.7)}', 'reason ${Math.floor(target.ids.length * 0.2)}')`;
      return [
        update(`reason = ${other}`, `project_id = '${target.projectId}' AND event_id IN ('${a}', '${b}')`),
      ];
    },
  },
  {
    name: 'change a salt',
    expected: 10,
    statements: (target) => [update('salt = generateUUIDv4()', row(target, at(target, 0.4)))],
  },
  { name: 'delete one row', expected: 11, statements: (target) => [remove(target, at(target, 0.5))] },
  { name: 'delete the first row', expected: 11, statements: (target) => [remove(target, at(target, 0))] },
  { name: 'delete the last row', expected: 11, statements: (target) => [remove(target, at(target, 0.9999))] },
  {
    name: 'insert one row',
    expected: 12,
    statements: (target) => [insert(target, at(target, 0.6))],
  },
  {
    name: 'insert one row of a time to come',
    expected: 12,
    statements: (target) => [insert(target, at(target, 0.6), TO_COME)],
  },
  {
    name: 'flip one, delete one, insert one',
    expected: 12,
    statements: (target) => [
      update("reason = 'rewritten'", row(target, at(target, 0.3))),
      remove(target, at(target, 0.5)),
      insert(target, at(target, 0.6)),
    ],
  },
  {
    name: 'alter an entry of the log',
    expected: 13,
    statements: ({ projectId }) => [
      `ALTER TABLE log_chunks UPDATE entries = arrayMap((entry, at) -> if(at = 1, reverse(entry), entry), entries, arrayEnumerate(entries)) WHERE project_id = '${projectId}' AND start = 0 ${WAIT}`,
    ],
  },
  {
    name: 'alter a hash of the log',
    expected: 13,
    statements: ({ projectId }) => [
      `ALTER TABLE log_hashes UPDATE hash = reverse(hash) WHERE project_id = '${projectId}' ${WAIT}`,
    ],
  },
];

const tileOf = ({ log }: AuditFiles) => join(log, 'tile/0/000');

export const FILE_ATTACKS: FileAttack[] = [
  {
    name: 'flip one byte of the export',
    expected: 10,
    change: ({ export: path }) =>
      changeBytes(path, (bytes) => (bytes[bytes.indexOf('"reason"') + 12] = 0x7a)),
  },
  { name: 'drop a tile', expected: 13, change: (files) => rmSync(tileOf(files)) },
  {
    name: 'alter a tile',
    expected: 13,
    change: (files) => changeBytes(tileOf(files), (bytes) => bytes.fill(1, 0, 32)),
  },
  {
    name: 'sign a fork that replaces one record',
    expected: 13,
    change: (files, { projectId, logKey }) => {
      const key = createPrivateKey(readFileSync(logKey));
      rewriteRecord(files, `gatehouse/${projectId}`, key);
    },
  },
  {
    name: 'sign a fork, for an auditor without a state',
    expected: 0,
    change: (files, { projectId, logKey }) => {
      const key = createPrivateKey(readFileSync(logKey));
      rewriteRecord(files, `gatehouse/${projectId}`, key);
      rmSync(files.state);
    },
  },
  {
    name: 'sign a fork with another key',
    expected: 14,
    change: (files, { projectId }) => rewriteRecord(files, `gatehouse/${projectId}`, OTHER_KEY),
  },
];

function changeBytes(path: string, change: (bytes: Buffer) => void): void {
  const bytes = readFileSync(path);
  change(bytes);
  writeFileSync(path, bytes);
}

/** Rewrites the newest record and makes everything match: its entry, all tiles, and a checkpoint with this key. */
function rewriteRecord(files: AuditFiles, origin: string, key: ReturnType<typeof createPrivateKey>): void {
  const lines = readFileSync(files.export, 'utf8').split('\n');
  const [first = ''] = readFileSync(files.proofs, 'utf8').split('\n', 1);
  const { event_id, index, salt } = JSON.parse(first) as { event_id: string; index: number; salt: string };
  const record = rewritten({
    line: lines[0] ?? '',
    event_id,
    salt: Buffer.from(salt, 'base64'),
    received_at: 0,
  });
  writeFileSync(files.export, [record.line, ...lines.slice(1)].join('\n'));
  const entries = entriesOf(files.log);
  entries[index] = entryOf(record);
  rmSync(join(files.log, 'tile'), { recursive: true });
  writeFiles(files.log, filesOfLog({ origin, entries, key }));
}

/** The entries of a mirrored log, in order, because the names of its bundles sort that way for up to 256,000 entries. */
function entriesOf(log: string): Buffer[] {
  const size = Number(readFileSync(join(log, 'checkpoint'), 'utf8').split('\n')[1]);
  return Array.from({ length: Math.ceil(size / 256) }, (_, tile) => {
    const width = Math.min(256, size - tile * 256);
    const name = `${String(tile).padStart(3, '0')}${width === 256 ? '' : `.p/${width}`}`;
    const bundle = readFileSync(join(log, 'tile/entries', name));
    return Array.from({ length: width }, (_entry, at) => bundle.subarray(at * 34 + 2, at * 34 + 34));
  }).flat();
}

/** Where the files of an auditor are in a directory. */
export const filesIn = (directory: string): AuditFiles => ({
  export: join(directory, 'export.ndjson'),
  proofs: join(directory, 'proofs.ndjson'),
  log: join(directory, 'log'),
  state: join(directory, 'state.json'),
});
