import { setTimeout as sleep } from 'node:timers/promises';
import { connectEmbedded } from '../../../../server/store/connection.ts';
import { createReadPool } from '../../../../server/store/read-pool.ts';
import { eventually } from '../../../support/eventually.ts';
import { temporaryDirectory } from '../../../support/service.ts';

// Each of these runs in a separate process (test/support/in-process.ts), on a new embedded store.

const SLOW = 'SELECT count(sleepEachRow(0.1)) AS n FROM numbers(100) SETTINGS max_block_size = 1';
const QUICK = 'SELECT {n: UInt32} AS n';
const RUNNING = `SELECT count() AS n FROM system.processes
  WHERE query LIKE '%sleepEachRow(0.1)%' AND query NOT LIKE '%processes%' AND NOT is_cancelled`;

const path = temporaryDirectory();
const pool = createReadPool((settings) => connectEmbedded(path, settings));

type Refusal = { code: string };
const codeOf = ({ code }: Refusal): string => code;
const quick = async (n: number) => Number((await pool.query<{ n: number }>(QUICK, { n }))[0]?.n);

/** The caller of a slow statement goes away. */
export async function stopSlowStatement() {
  const other = connectEmbedded(path, {});
  const running = async () => Number((await other.query<{ n: number }>(RUNNING, {}))[0]?.n);
  const gone = new AbortController();
  const slow = pool.query(SLOW, {}, gone.signal).then(() => 'ran to its end', codeOf);
  const before = await eventually(async () => (await running()) || undefined);
  const startMs = performance.now();
  gone.abort();
  const code = await slow;
  const tookMs = performance.now() - startMs;
  const isStopped = await eventually(async () => (await running()) === 0);
  return { before, isStopped, tookMs, code, quick: await Promise.all([1, 2, 3, 4, 5, 6, 7, 8].map(quick)) };
}

/** Slow statements are stopped before, while and after they begin, together with quick ones. */
export async function stopAmongOthers() {
  let [failed, wrong] = [0, 0];
  for (let round = 0; round < 24; round += 1) {
    const gone = new AbortController();
    const slow = Array.from({ length: 4 }, () => pool.query(SLOW, {}, gone.signal).catch(() => undefined));
    setTimeout(() => gone.abort(), round % 8);
    const numbers = [1, 2, 3, 4];
    const answers = await Promise.all(numbers.map((n) => quick(n).catch(() => 'failed')));
    failed += answers.filter((answer) => answer === 'failed').length;
    wrong += answers.filter((answer, index) => answer !== 'failed' && answer !== numbers[index]).length;
    await Promise.all(slow);
  }
  return { failed, wrong };
}

/** The answer of each connection after a statement on it was stopped while it wrote its answer. */
export async function answersAfterStop() {
  const answers: unknown[] = [];
  for (let round = 0; round < 3; round += 1) {
    const gone = new AbortController();
    const rows =
      'SELECT number AS theirs, sleepEachRow(0.02) AS s FROM numbers(500) SETTINGS max_block_size = 1';
    const slow = [1, 2, 3, 4].map(() => pool.query(rows, {}, gone.signal).catch(codeOf));
    await sleep(300);
    gone.abort();
    answers.push(...(await Promise.all(slow)));
    answers.push(...(await Promise.all([1, 2, 3, 4].map((n) => pool.query(QUICK, { n })))));
  }
  return answers;
}

/** This many slow statements at once, all of them stopped after a while. */
export async function crowd({ count, lastsMs }: { count: number; lastsMs: number }) {
  const gone = new AbortController();
  const startMs = performance.now();
  const times: number[] = [];
  const ask = () =>
    pool.query(SLOW, {}, gone.signal).then(
      () => 'ran',
      (error: Refusal) => {
        times.push(performance.now() - startMs);
        return codeOf(error);
      },
    );
  const all = Array.from({ length: count }, ask);
  await sleep(lastsMs);
  gone.abort();
  return { codes: [...new Set(await Promise.all(all))], times };
}
