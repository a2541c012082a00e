import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { entryOf, History, LOG_KEY, ORIGIN, PROJECT } from '../support/proof-vectors/history.ts';
import { filesOfLog, writeFiles } from '../support/proof-vectors/log.ts';
import { temporaryDirectory } from './process.ts';

const SAMPLE_MS = 20;
/** USER_HZ of Linux. */
const TICKS_PER_SECOND = 100;

/** Both verifiers on the files of a project with a number of records: seconds, and their peak memory. */
export async function benchVerify({ rows }: { rows: number }): Promise<void> {
  const directory = temporaryDirectory();
  try {
    await writeRecords(directory, rows);
    const args = ['--project', PROJECT, '--log', join(directory, 'log'), '--at', '2026-11-22T12:00:00Z'];
    args.push('--export', join(directory, 'export.ndjson'), '--proofs', join(directory, 'proofs.ndjson'));
    const exportMb = Math.round(statSync(join(directory, 'export.ndjson')).size / 2 ** 20);
    console.log(`\n${rows.toLocaleString('en')} records, offline; the export has ${exportMb} MB\n`);
    console.log(
      '| verifier | seconds | CPU seconds | records/s | peak memory MB | exit code |\n|:--|--:|--:|--:|--:|--:|',
    );
    const gate = [process.execPath, 'server/cli/main.ts', 'audit', 'verify', ...args];
    for (const [name, command] of [
      ['npm run gate -- audit verify', gate],
      ['docs/verify.py', ['python3', 'docs/verify.py', ...args]],
    ] as const) {
      const { seconds, cpuSeconds, peakMb, code } = await measure(command);
      const perSecond = Math.round(rows / seconds).toLocaleString('en');
      console.log(
        `| ${name} | ${seconds.toFixed(1)} | ${cpuSeconds.toFixed(1)} | ${perSecond} | ${Math.round(peakMb)} | ${code} |`,
      );
      if (code !== 0) process.exitCode = 1;
    }
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** The figures of a process shortly before its end. */
async function measure([command = '', ...args]: readonly string[]) {
  const startMs = performance.now();
  const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'inherit'] });
  let [peakMb, cpuSeconds] = [0, 0];
  const timer = setInterval(() => {
    if (child.exitCode !== null) return;
    const read = (name: string) => readFileSync(`/proc/${child.pid}/${name}`, 'utf8');
    peakMb = Number(/VmHWM:\s+(\d+)/.exec(read('status'))?.[1] ?? 0) / 1024 || peakMb;
    const [user = 0, system = 0] = read('stat').split(') ')[1]?.split(' ').slice(11, 13).map(Number) ?? [];
    cpuSeconds = (user + system) / TICKS_PER_SECOND;
  }, SAMPLE_MS);
  const [code] = (await once(child, 'exit')) as [number | null];
  clearInterval(timer);
  return { seconds: (performance.now() - startMs) / 1000, cpuSeconds, peakMb, code };
}

/** A record a second, up to ten minutes before `--at`. Newest first, as the service writes an export. */
async function writeRecords(directory: string, rows: number): Promise<void> {
  const history = new History(rows);
  const lastMs = Date.parse('2026-11-22T11:50:00Z');
  const entries: Buffer[] = [];
  const exported = createWriteStream(join(directory, 'export.ndjson'));
  const proofs = createWriteStream(join(directory, 'proofs.ndjson'));
  for (let index = rows - 1; index >= 0; index -= 1) {
    const record = history.record({ receivedMs: lastMs - (rows - index) * 1000 });
    const { line, event_id, salt } = record;
    entries[index] = entryOf(record);
    const isFull = !exported.write(`${line}\n`);
    proofs.write(`${JSON.stringify({ event_id, index, salt: salt.toString('base64') })}\n`);
    if (isFull) await once(exported, 'drain');
  }
  await Promise.all([exported, proofs].map((stream) => once(stream.end(), 'close')));
  mkdirSync(join(directory, 'log'));
  writeFiles(join(directory, 'log'), filesOfLog({ origin: ORIGIN, entries, key: LOG_KEY }));
  writeFileSync(join(directory, 'log', 'keys.json'), '{"keys":[]}');
}
