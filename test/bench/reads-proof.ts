import { setTimeout as sleep } from 'node:timers/promises';
import { readMetrics } from '../support/metrics.ts';
import { type Target, timesOf } from './reads-target.ts';
import { HOUR_MS } from '../../server/durations.ts';

const LOG_WAIT_MS_MAX = HOUR_MS;
const DAYS = 90;
const HOURS_APART = 6;
/** A service that uses less than this share of a core has nothing left to merge. */
const REST = { ms: 5000, share: 0.05 };

/** Proofs of records of every day, one at a time: once all records are in the log, and when the service is idle. */
export async function printProofs(target: Target): Promise<void> {
  const startMs = performance.now();
  const size = await wholeLog(target);
  const seconds = () => ((performance.now() - startMs) / 1000).toFixed(0);
  console.log(`\n${size} records were in the log ${seconds()} s after the start.`);
  console.log('\n| asked | proofs | p50 ms | p99 ms |\n|---|--:|--:|--:|');
  await printTimes('at once', target, 0);
  await rest(target);
  await printTimes(`at rest, ${seconds()} s after the start`, target, 1);
}

async function printTimes(asked: string, target: Target, hour: number): Promise<void> {
  const times: number[] = [];
  for (let hours = hour; hours < DAYS * 24; hours += HOURS_APART)
    for (const id of await idsBefore(target, hours))
      times.push(...(await timesOf(target, `decisions/${id}/proof`, 1)));
  times.sort((a, b) => a - b);
  const at = (share: number) => times[Math.floor(times.length * share)]?.toFixed(1);
  console.log(`| ${asked} | ${times.length} | ${at(0.5)} | ${at(0.99)} |`);
}

async function rest({ url }: Target): Promise<void> {
  const seconds = async () => (await readMetrics({ url: url.origin })).value('process_cpu_seconds_total');
  for (let before = await seconds(), used = Infinity; used > (REST.ms / 1000) * REST.share;) {
    await sleep(REST.ms);
    const now = await seconds();
    [used, before] = [now - before, now];
  }
}

async function wholeLog(target: Target): Promise<number> {
  const { url, projectId } = target;
  const untilMs = performance.now() + LOG_WAIT_MS_MAX;
  for (;;) {
    // Computed each time: records that expire in the meantime do not enter the log.
    const { totals } = await answer<{ totals: { total: number } }>(target, 'summary?window=90d');
    const { total } = totals;
    const checkpoint = await (await fetch(new URL(`/v1/projects/${projectId}/log/checkpoint`, url))).text();
    const size = Number(checkpoint.split('\n')[1]);
    if (size >= total) return size;
    if (performance.now() > untilMs) throw new Error(`Only ${size} of ${total} records are in the log`);
    await sleep(1000);
  }
}

/** The newest record before this many hours ago. */
async function idsBefore(target: Target, hours: number): Promise<string[]> {
  const toMs = Date.now() - hours * HOUR_MS;
  const [from, to] = [toMs - HOURS_APART * HOUR_MS, toMs].map((ms) => new Date(ms).toISOString());
  const query = new URLSearchParams({ from: from ?? '', to: to ?? '', limit: '1' });
  const { items } = await answer<{ items: { event_id: string }[] }>(target, `decisions?${query.toString()}`);
  return items.map(({ event_id }) => event_id);
}

async function answer<T>({ url, projectId }: Target, path: string): Promise<T> {
  return (await (await fetch(new URL(`/v1/projects/${projectId}/audit/${path}`, url))).json()) as T;
}
