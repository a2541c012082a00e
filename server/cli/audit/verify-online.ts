import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Findings } from './findings.ts';
import { fetchFile, fetchText, type Source } from './http-source.ts';
import { linesOf } from './lines.ts';
import { fetchTiles } from './mirror.ts';
import { Progress } from './progress.ts';
import type { Result } from './report.ts';
import { SETTLE_MS } from './times.ts';
import { type VerifyFiles, verifyFiles } from './verify-files.ts';
import { readHead } from './verify-head.ts';

/** Slightly more than the log may take, because the clocks of two machines run at slightly different rates. */
const SETTLE_WAIT_MS = SETTLE_MS + 500;
/** Most logs lag by a second or two. Doubles after each attempt, because each fetches the proofs of all records. */
const FIRST_PAUSE_MS = 1_000;
const WHOLE_WINDOW = '?window=90d';

type VerifyOnline = Pick<VerifyFiles, 'vkey' | 'statePath' | 'receiptsPath'> & {
  source: Source;
  /** Resolves after this many milliseconds. */
  wait: (ms: number) => Promise<unknown>;
};

/** Fetches the records, proofs and log of a project, and verifies them. The files stay on disk until it ends. */
export async function verifyOnline({ source, wait, ...options }: VerifyOnline): Promise<Result> {
  const directory = mkdtempSync(join(tmpdir(), 'gatehouse-audit-'));
  try {
    const files = { export: join(directory, 'export.ndjson'), proofs: join(directory, 'proofs.ndjson') };
    const log = join(directory, 'log');
    mkdirSync(log);
    writeFileSync(join(log, 'checkpoint.before'), await fetchText(source, 'log/checkpoint'));
    const atMs = await fetchRecords(source, files, wait);
    await fetchLog(source, { log, vkey: options.vkey });
    return verifyFiles({ ...options, atMs, isSettled: true, projectId: source.projectId, files, log });
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/**
 * Resolves with the time of the export. If a record is not in the log yet, the proofs are fetched again, for the last time when each record
 * of the export must be in it.
 */
async function fetchRecords(
  source: Source,
  files: VerifyFiles['files'],
  wait: VerifyOnline['wait'],
): Promise<number> {
  const fetchTo = (path: string, to: string) =>
    fetchFile(source, `${path}${WHOLE_WINDOW}`, { to, progress: new Progress('Fetched bytes') });
  await fetchTo('audit/decisions/export', files.export);
  const atMs = Date.now();
  for (let [leftMs, pauseMs] = [SETTLE_WAIT_MS, FIRST_PAUSE_MS]; ; pauseMs *= 2) {
    const isLast = leftMs <= 0;
    const startMs = performance.now();
    await fetchTo('audit/decisions/export/proofs', files.proofs);
    if (isLast || !hasPending(files.proofs)) return atMs;
    leftMs -= performance.now() - startMs;
    if (pauseMs === FIRST_PAUSE_MS && leftMs > 0)
      process.stderr.write('Some records are not in the log yet: waiting for up to ten seconds.\n');
    const waitMs = Math.max(0, Math.min(pauseMs, leftMs));
    await wait(waitMs);
    leftMs -= waitMs;
  }
}

function hasPending(proofsPath: string): boolean {
  for (const line of linesOf(proofsPath)) if (line.includes('"index":null')) return true;
  return false;
}

/** Fills a log directory. Without a signed checkpoint, no tile is fetched. */
async function fetchLog(
  source: Source,
  { log, vkey }: { log: string; vkey: string | undefined },
): Promise<void> {
  const checkpoint = await fetchText(source, 'log/checkpoint');
  const served = (await fetchText(source, 'log/vkey')).trim();
  writeFileSync(join(log, 'checkpoint'), checkpoint);
  writeFileSync(join(log, 'vkey'), `${served}\n`);
  writeFileSync(join(log, 'keys.json'), await fetchText(source, '/v1/.well-known/keys'));
  const head = readHead(checkpoint, { vkey: vkey ?? served, projectId: source.projectId }, new Findings());
  if (head !== undefined) await fetchTiles(source, { to: log, size: head.size });
}
