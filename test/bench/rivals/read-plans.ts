import { HOUR_MS } from '../../../server/durations.ts';
import { readBreakdown } from '../../../server/records/breakdown.ts';
import { readSummary, readTimeseries, type ReadScope } from '../../../server/records/counts.ts';
import { type AuditReads, createReads } from '../../../server/records/days.ts';
import { NO_FILTERS } from '../../../server/records/filters.ts';
import { readLlmUsage, readLlmUsageTimeseries } from '../../../server/records/llm-usage.ts';
import { readRange } from '../../../server/records/window.ts';
import { connectEmbedded } from '../../../server/store/connection.ts';
import { createReadPool } from '../../../server/store/read-pool.ts';
import { median } from '../median.ts';

// The last hours of a store, read in turns by projections, from rows, and as the service chooses. Arguments: path of the store, project.

const [path = '', projectId = ''] = process.argv.slice(2);
const ROUNDS = 31;
const HOURS = [1, 6, 24, 48];
const READS: Record<string, (reads: AuditReads, scope: ReadScope) => Promise<unknown>> = {
  summary: readSummary,
  'time series': readTimeseries,
  'breakdown by agent': (reads, scope) => readBreakdown(reads, scope, { by: 'agent', limit: 50 }),
  usage: readLlmUsage,
  'usage over time': readLlmUsageTimeseries,
};

const pool = createReadPool((settings) => connectEmbedded(path, settings));
const newest = `SELECT toUnixTimestamp64Milli(max(occurred_at)) AS ms FROM decisions WHERE project_id = {projectId: String}`;
const nowMs = Number((await pool.query<{ ms: string }>(newest, { projectId }))[0]?.ms);
const options = {
  writers: 'sole' as const,
  runRead: pool.query.bind(pool),
  runReadBytes: pool.queryBytes.bind(pool),
  now: () => nowMs,
};
const plans = [
  createReads({ ...options, fewRows: 0 }),
  createReads({ ...options, fewRows: Number.POSITIVE_INFINITY }),
  createReads(options),
];

console.log('| hours | read | by projections ms | from rows ms | as served ms |\n|--:|---|--:|--:|--:|');
for (const hours of HOURS) {
  const [from, to] = [nowMs - hours * HOUR_MS, nowMs].map((ms) => new Date(ms).toISOString());
  // As the window 24h has them; a range of that length has shorter ones, which no projection has.
  const window = { ...readRange({ from, to }, nowMs), bucketSeconds: 3600 };
  const scope = { projectId, window, filters: NO_FILTERS, signal: new AbortController().signal };
  for (const [name, read] of Object.entries(READS)) {
    const times: number[][] = plans.map(() => []);
    for (let round = 0; round < ROUNDS; round += 1)
      for (const [place, reads] of plans.entries()) {
        const startMs = performance.now();
        await read(reads, scope);
        times[place]?.push(performance.now() - startMs);
      }
    console.log(`| ${hours} | ${name} | ${times.map((all) => median(all).toFixed(1)).join(' | ')} |`);
  }
}
process.exit(0);
