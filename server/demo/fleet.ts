import { parseArgs } from 'node:util';
import { CommandError } from '../cli/command-error.ts';
import { readConfig } from '../config.ts';
import { expectedFaultText } from '../expected-fault.ts';
import { createLogger } from '../logger.ts';
import { makeFilesPrivate } from '../private-files.ts';
import { startService } from '../service.ts';
import type { FleetProgress } from './fleet-fill.ts';

const USAGE = `npm run demo -- [--rows N] [--days N] [--seed N] [--project ID]

Fills the store that the environment names (GATE_DATA_DIR, GATE_CLICKHOUSE_URL) with the decisions and model calls of a
fleet of agents, in the demo project, or in --project. Defaults: 1000000 rows over 90 days, seed 1.
`;

type FleetSize = { rows: number; days: number; seed: number };
type FleetResult = { projectId: string; rows: number };

async function run(): Promise<void> {
  makeFilesPrivate();
  const { values } = parseArgs({
    options: {
      rows: { type: 'string', default: '1000000' },
      days: { type: 'string', default: '90' },
      seed: { type: 'string', default: '1' },
      project: { type: 'string' },
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (values.help === true) return void process.stdout.write(USAGE);
  const size = {
    rows: wholeNumber('rows', values.rows, { min: 1, max: 10_000_000_000 }),
    days: wholeNumber('days', values.days, { min: 1, max: 90 }),
    seed: wholeNumber('seed', values.seed, { min: 0, max: 4_294_967_295 }),
  };
  const startMs = performance.now();
  const { projectId, rows } = await fill(values.project, size);
  const seconds = (performance.now() - startMs) / 1000;
  process.stdout.write(
    `\n${rows} decisions in ${seconds.toFixed(1)} s (${Math.round(rows / seconds)} rows/s) in project ${projectId}\n`,
  );
}

function wholeNumber(name: string, text: string, { min, max }: { min: number; max: number }): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= min && value <= max) return value;
  throw new CommandError(`--${name} is "${text}"; it must be a whole number from ${min} to ${max}.`);
}

async function fill(project: string | undefined, size: FleetSize): Promise<FleetResult> {
  const service = await startService(
    { ...readConfig(), host: '127.0.0.1', port: 0, demo: 'project' },
    createLogger('silent'),
  );
  try {
    const projectId = project ?? service.demo?.project_id;
    if (projectId === undefined)
      throw new CommandError('The store has projects but no demo.json. Name one with --project.');
    const options = { ...size, projectId, isMerged: true, onProgress: createProgressBar() };
    const rows = await service.demoFleet.fillProject(options);
    return { projectId, rows };
  } finally {
    await service.stop();
  }
}

const BAR_CHARS = 30;

/** On a terminal one line that updates in place; elsewhere one line per step. */
function createProgressBar(): (progress: FleetProgress) => void {
  const startMs = performance.now();
  return ({ step, done, of, rows }) => {
    const filled = Math.round((BAR_CHARS * done) / of);
    const bar = `${'#'.repeat(filled)}${'.'.repeat(BAR_CHARS - filled)}`;
    const perSecond = Math.round((rows / (performance.now() - startMs)) * 1000);
    const line = `${step === 'write' ? 'writing' : 'merging'} [${bar}] day ${done} of ${of}, ${rows} rows, ${perSecond} rows/s`;
    if (process.stdout.isTTY) process.stdout.write(`\r${line}  `);
    else if (done === of) process.stdout.write(`${line}\n`);
  };
}

run().then(
  () => process.exit(0),
  (error: unknown) => {
    const { message, stack } = error as Error;
    const isBadArgument = (error as { code?: string }).code?.startsWith('ERR_PARSE_ARGS') === true;
    const text = isBadArgument || error instanceof CommandError ? message : expectedFaultText(error);
    process.stderr.write(`${text ?? stack ?? message}\n`);
    process.exit(1);
  },
);
