import { parseArgs } from 'node:util';
import { ConfigError, readConfig, type Config } from '../config.ts';
import { createLogger } from '../logger.ts';
import { startService } from '../service.ts';
import { createStore, fatalStoreFault, StoreInUseError } from '../store/store.ts';
import type { Demo } from './demo.ts';
import { FLEET_AGENTS, manifestOf } from './fleet-agents.ts';
import { fillFleet, type FleetProgress } from './fleet-fill.ts';

const USAGE = `npm run demo -- [--rows N] [--days N] [--seed N] [--project ID]

Fills the store that the environment names (GATE_DATA_DIR, GATE_CLICKHOUSE_URL) with the decisions and model calls of a
fleet of agents, in the demo project, or in --project. Defaults: 1000000 rows over 90 days, seed 1.
`;

/** What was typed, or what is there, does not do; the message says what would. */
class UsageError extends Error {}

const logger = createLogger('silent');

async function run(): Promise<void> {
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
  const config = readConfig();
  const target = await prepareProject(config, values.project);
  const startMs = performance.now();
  const rows = await fill(config, { ...target, ...size });
  const seconds = (performance.now() - startMs) / 1000;
  process.stdout.write(
    `\n${rows} decisions in ${seconds.toFixed(1)} s (${Math.round(rows / seconds)} rows/s) in project ${target.projectId}\n`,
  );
}

function wholeNumber(name: string, text: string, { min, max }: { min: number; max: number }): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= min && value <= max) return value;
  throw new UsageError(`--${name} is "${text}"; it must be a whole number from ${min} to ${max}.`);
}

/** The service itself makes the demo project and registers the agents, as any caller would have it do. */
async function prepareProject(config: Config, project: string | undefined) {
  const service = await startService({ ...config, host: '127.0.0.1', port: 0, demo: true }, logger);
  try {
    const { demo } = service;
    const projectId = project ?? demo?.project_id;
    if (projectId === undefined)
      throw new UsageError('The store has projects but no demo.json. Name one with --project.');
    const isDemo = demo !== undefined && projectId === demo.project_id;
    const versionIds = isDemo ? await registerAgents(service.url, demo) : FLEET_AGENTS.map(() => '');
    return { projectId, versionIds };
  } finally {
    await service.stop();
  }
}

async function registerAgents(url: string, { key }: Demo): Promise<string[]> {
  const ids: string[] = [];
  for (const agent of FLEET_AGENTS) {
    const { name } = agent;
    const response = await fetch(`${url}/v1/agents`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ name, tools: manifestOf(agent) }),
    });
    if (!response.ok)
      throw new Error(`Registering ${name} answered ${response.status}: ${await response.text()}`);
    ids.push(((await response.json()) as { agent_version_id: string }).agent_version_id);
  }
  return ids;
}

type Fill = { projectId: string; versionIds: string[]; rows: number; days: number; seed: number };

async function fill(config: Config, options: Fill): Promise<number> {
  const store = createStore(config, logger);
  try {
    await store.ready();
    return await fillFleet(store.background, {
      ...options,
      nowMs: Date.now(),
      onProgress: createProgressBar(),
    });
  } catch (error) {
    throw fatalStoreFault(error, config.dataDir) ?? error;
  } finally {
    await store.close();
  }
}

const BAR_CHARS = 30;

/** One line that is written over on a terminal; elsewhere one line a step. */
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
    const isExpected =
      error instanceof UsageError || error instanceof ConfigError || error instanceof StoreInUseError;
    process.stderr.write(
      `${isExpected || (error as { code?: string }).code?.startsWith('ERR_PARSE_ARGS') === true ? message : (stack ?? message)}\n`,
    );
    process.exit(1);
  },
);
