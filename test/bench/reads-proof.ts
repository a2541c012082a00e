import { setTimeout as sleep } from 'node:timers/promises';
import { DAY_MS } from '../../server/limits.ts';
import { type Target, timesOf } from './reads-target.ts';

const LOG_WAIT_MS_MAX = 60 * 60_000;
const DAYS = 90;
const RECORDS_A_DAY = 4;

/** Proofs of records of every day, one at a time, as soon as all records are in the log. */
export async function printProofs(target: Target): Promise<void> {
  const startMs = performance.now();
  const size = await wholeLog(target);
  console.log(
    `\n${size} records were in the log ${((performance.now() - startMs) / 1000).toFixed(0)} s after the start.`,
  );
  const times: number[] = [];
  for (let day = 0; day < DAYS; day += 1)
    for (const id of await idsOf(target, day))
      times.push(...(await timesOf(target, `decisions/${id}/proof`, 1)));
  times.sort((a, b) => a - b);
  const at = (share: number) => times[Math.floor(times.length * share)]?.toFixed(1);
  console.log(
    `\n| proofs | p50 ms | p99 ms |\n|--:|--:|--:|\n| ${times.length} | ${at(0.5)} | ${at(0.99)} |`,
  );
}

async function wholeLog(target: Target): Promise<number> {
  const { url, projectId } = target;
  const untilMs = performance.now() + LOG_WAIT_MS_MAX;
  for (;;) {
    // Anew each time: records that expire meanwhile do not enter the log.
    const { totals } = await answer<{ totals: { total: number } }>(target, 'summary?window=90d');
    const { total } = totals;
    const checkpoint = await (await fetch(new URL(`/v1/projects/${projectId}/log/checkpoint`, url))).text();
    const size = Number(checkpoint.split('\n')[1]);
    if (size >= total) return size;
    if (performance.now() > untilMs) throw new Error(`Only ${size} of ${total} records are in the log`);
    await sleep(1000);
  }
}

async function idsOf(target: Target, daysAgo: number): Promise<string[]> {
  const toMs = Date.now() - daysAgo * DAY_MS;
  const [from, to] = [toMs - DAY_MS, toMs].map((ms) => new Date(ms).toISOString());
  const query = new URLSearchParams({ from: from ?? '', to: to ?? '', limit: String(RECORDS_A_DAY) });
  const { items } = await answer<{ items: { event_id: string }[] }>(target, `decisions?${query.toString()}`);
  return items.map(({ event_id }) => event_id);
}

async function answer<T>({ url, projectId }: Target, path: string): Promise<T> {
  return (await (await fetch(new URL(`/v1/projects/${projectId}/audit/${path}`, url))).json()) as T;
}
