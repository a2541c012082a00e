import {
  closeSync,
  fdatasyncSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { readConfig } from '../../server/config.ts';
import { DECISION_COLUMNS } from '../../server/ingest/decision-event.ts';
import { createLogger } from '../../server/logger.ts';
import { createStore, type Store } from '../../server/store/store.ts';
import { entryOf } from '../support/rows.ts';
import { median } from './median.ts';
import { temporaryDirectory } from './process.ts';

const ROWS = [1, 8, 32, 64, 500];
const ROUNDS = 60;
const COUNTERS = [
  'FileSync',
  'DirectorySync',
  'FileSyncElapsedMicroseconds',
  'DirectorySyncElapsedMicroseconds',
];

type Counts = Record<string, number>;
type File = { name: string; bytes: number };

/**
 * What one insert of a number of events costs the embedded engine, by its own counters, compared with the time of the disk alone for files
 * of the same sizes: each written and synced, their directory synced, renamed, and the parent directory synced.
 */
export async function benchFlush(): Promise<void> {
  const dataDir = temporaryDirectory();
  const store = createStore(readConfig({ GATE_DATA_DIR: dataDir }), createLogger('silent'));
  try {
    await store.ready();
    const parts: File[][] = [];
    console.log(
      '\n| events a flush | p50 ms | processor ms | files synced | directories synced | ms in syncs | the same files without an engine, p50 ms |\n|--:|--:|--:|--:|--:|--:|--:|',
    );
    for (const rows of ROWS) {
      await insert(store, rows);
      const part = await newestPart(store);
      parts.push(part);
      const [before, cpu] = [await countsOf(store), process.cpuUsage()];
      const [took, bare]: [number[], number[]] = [[], []];
      for (let round = 0; round < ROUNDS; round += 1) took.push(await insert(store, rows));
      const { user, system } = process.cpuUsage(cpu);
      const after = await countsOf(store);
      for (let round = 0; round < ROUNDS; round += 1) bare.push(writeBare(join(dataDir, 'bare'), part));
      const each = (name: string) => ((after[name] ?? 0) - (before[name] ?? 0)) / ROUNDS;
      const syncMs = (each('FileSyncElapsedMicroseconds') + each('DirectorySyncElapsedMicroseconds')) / 1000;
      const cells = [
        rows,
        median(took).toFixed(1),
        ((user + system) / 1000 / ROUNDS).toFixed(1),
        each('FileSync').toFixed(1),
        each('DirectorySync').toFixed(1),
        syncMs.toFixed(1),
        median(bare).toFixed(1),
      ];
      console.log(`| ${cells.join(' | ')} |`);
    }
    const sizes = (name: string) =>
      parts.map((part) => part.find((file) => file.name === name)?.bytes ?? '-').join(' | ');
    console.log(`\nBytes of each file:\n\n| file | ${ROWS.join(' | ')} |\n|--|${'--:|'.repeat(ROWS.length)}`);
    for (const { name } of parts[0] ?? []) console.log(`| ${name} | ${sizes(name)} |`);
  } finally {
    await store.close();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

/** Milliseconds of one insert, as a flush makes it. */
async function insert(store: Store, rows: number): Promise<number> {
  const lines = Array.from({ length: rows }, () => entryOf('bench').line);
  const startMs = performance.now();
  await store.writer.insert({
    table: 'decisions',
    columns: [...DECISION_COLUMNS, 'flush'],
    lines,
    token: undefined,
    last: '"1"',
  });
  return performance.now() - startMs;
}

async function countsOf(store: Store): Promise<Counts> {
  const rows = await store.lookups.query<{ event: string; value: string }>(
    'SELECT event, value FROM system.events WHERE event IN {names: Array(String)}',
    { names: COUNTERS },
  );
  return Object.fromEntries(rows.map(({ event, value }) => [event, Number(value)]));
}

/** The files of the part that was written last. */
async function newestPart(store: Store): Promise<File[]> {
  const [row] = await store.lookups.query<{ path: string }>(
    `SELECT path FROM system.parts WHERE database = currentDatabase() AND table = 'decisions' AND active
     ORDER BY min_block_number DESC LIMIT 1`,
  );
  const path = row?.path ?? '';
  const names = readdirSync(path).sort();
  return names.map((name) => ({ name, bytes: statSync(join(path, name)).size }));
}

/** Milliseconds to write these files in the way in which a part is written. */
function writeBare(path: string, files: File[]): number {
  mkdirSync(path, { recursive: true });
  const startMs = performance.now();
  const part = join(path, 'tmp_part');
  mkdirSync(part);
  for (const { name, bytes } of files) {
    const file = openSync(join(part, name), 'w', 0o600);
    writeSync(file, Buffer.alloc(bytes, 'x'));
    fdatasyncSync(file);
    closeSync(file);
  }
  sync(part);
  renameSync(part, join(path, 'part'));
  sync(path);
  const tookMs = performance.now() - startMs;
  rmSync(join(path, 'part'), { recursive: true });
  return tookMs;
}

function sync(directory: string): void {
  const opened = openSync(directory, 'r');
  fsyncSync(opened);
  closeSync(opened);
}
