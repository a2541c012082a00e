import { median } from './median.ts';
import { loadOnlyGood, type LoadResult } from './process.ts';
import { type Target, timesOf } from './reads-target.ts';

const WARM_SECONDS = 20;
const INGEST_ROUNDS = 3;

/** The heaviest read in a loop during ingest: it must not make writers wait. Alternating, for a fair comparison. */
export async function printIngest(target: Target, seconds: number): Promise<void> {
  const { url, key } = target;
  const options = { key, connections: 64, seconds };
  // A service that just started reads the identities of all records first.
  await loadOnlyGood(url, { ...options, seconds: WARM_SECONDS });
  const quiet: LoadResult[] = [];
  const busy: LoadResult[] = [];
  for (let round = 0; round < INGEST_ROUNDS; round += 1) {
    quiet.push(await loadOnlyGood(url, options));
    const analyst = startAnalyst(target);
    busy.push(await loadOnlyGood(url, options));
    await analyst.stop();
  }
  const middle = (runs: LoadResult[], field: 'p99' | 'perSecond') =>
    median(runs.map((result) => result[field])).toFixed(0);
  console.log('\n| ingest on 64 connections | p99 ms | events/s |\n|---|--:|--:|');
  console.log(`| alone | ${middle(quiet, 'p99')} | ${middle(quiet, 'perSecond')} |`);
  console.log(`| beside an analyst's loop | ${middle(busy, 'p99')} | ${middle(busy, 'perSecond')} |`);
}

function startAnalyst(target: Target): { stop: () => Promise<void> } {
  let isAsking = true;
  const ask = async () => {
    while (isAsking) {
      await timesOf(target, 'decisions?window=90d&user_id=user-000001', 1);
      await timesOf(target, 'summary?window=90d', 1);
    }
  };
  const asking = ask();
  return {
    stop: () => {
      isAsking = false;
      return asking;
    },
  };
}
