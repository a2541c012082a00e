import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { READ_WAIT_MS_MAX, READS_RUNNING_MAX, READS_WAITING_MAX } from '../../../server/limits.ts';
import { temporaryDirectory } from '../../support/service.ts';

const TOO_MANY = 5;
const ROOT = new URL('../../../', import.meta.url).pathname;

/** On the real engine, in a process of its own, because one process holds one data directory. */
async function inPool<T>(body: string): Promise<T> {
  const script = `
    import { connectEmbedded } from './server/store/connection.ts';
    import { createReadPool } from './server/store/read-pool.ts';
    import { setTimeout as sleep } from 'node:timers/promises';
    const path = process.argv[1];
    const pool = createReadPool((settings) => connectEmbedded(path, settings));
    const other = connectEmbedded(path, {});
    const SLOW = 'SELECT count(sleepEachRow(0.1)) AS n FROM numbers(100) SETTINGS max_block_size = 1';
    const QUICK = 'SELECT {n: UInt32} AS n';
    const running = () => other.query("SELECT count() AS n FROM system.processes WHERE query LIKE '%sleepEachRow(0.1)%' AND query NOT LIKE '%processes%' AND NOT is_cancelled").then(([row]) => Number(row.n));
    console.log(JSON.stringify(await (async () => { ${body} })()));
    process.exit();`;
  const args = ['--input-type=module-typescript', '--eval', script, temporaryDirectory()];
  const { stdout } = await promisify(execFile)(process.execPath, args, {
    cwd: ROOT,
    // As the service sets it: every statement that runs has a thread of the process.
    env: { ...process.env, UV_THREADPOOL_SIZE: '32' },
  });
  return JSON.parse(stdout) as T;
}

describe('the pool of reads', () => {
  it('stops the statement in the store when its caller goes away, and reads on', async () => {
    const answer = await inPool<{
      before: number;
      after: number;
      tookMs: number;
      code: string;
      quick: number[];
    }>(`
      const gone = new AbortController();
      const slow = pool.query(SLOW, {}, gone.signal).then(() => 'ran to its end', ({ code }) => code);
      let before = 0;
      for (let tries = 0; before === 0 && tries < 200; tries += 1) {
        await sleep(20);
        before = await running();
      }
      const startMs = performance.now();
      gone.abort();
      const code = await slow;
      const tookMs = performance.now() - startMs;
      await sleep(200);
      const after = await running();
      const rows = await Promise.all([1, 2, 3, 4, 5, 6, 7, 8].map((n) => pool.query(QUICK, { n })));
      return { before, after, tookMs, code, quick: rows.map(([row]) => row.n) };`);

    expect(answer).to.include({ before: 1, after: 0, code: 'overloaded' });
    expect(answer.tookMs).to.be.below(2000);
    expect(answer.quick).to.deep.equal([1, 2, 3, 4, 5, 6, 7, 8]);
  });

  it('stops a statement that is told before it begins, and never the next one on its connection', async () => {
    const answer = await inPool<{ failed: number; wrong: number }>(`
      let [failed, wrong] = [0, 0];
      for (let round = 0; round < 40; round += 1) {
        const gone = new AbortController();
        const slow = Array.from({ length: 4 }, () => pool.query(SLOW, {}, gone.signal).catch(() => undefined));
        setTimeout(() => gone.abort(), round % 8);
        const rows = await Promise.all([1, 2, 3, 4].map((n) => pool.query(QUICK, { n }).catch(() => [{ n: 0 }])));
        for (const [index, [row]] of rows.entries()) if (row.n === 0) failed += 1; else if (row.n !== index + 1) wrong += 1;
        await Promise.all(slow);
      }
      return { failed, wrong };`);

    expect(answer).to.deep.equal({ failed: 0, wrong: 0 });
  });

  it('refuses at once when the line is full, and in time who waits too long', async () => {
    const { codes, times } = await inPool<{ codes: string[]; times: number[] }>(`
      const gone = new AbortController();
      const startMs = performance.now();
      const times = [];
      const ask = () => pool.query(SLOW, {}, gone.signal).then(() => 'ran', ({ code }) => { times.push(performance.now() - startMs); return code; });
      const all = Array.from({ length: ${READS_RUNNING_MAX + READS_WAITING_MAX + TOO_MANY} }, ask);
      await sleep(6000);
      gone.abort();
      return { codes: [...new Set(await Promise.all(all))], times };`);

    expect(codes).to.deep.equal(['overloaded']);
    const refused = times.slice(0, TOO_MANY);
    const waited = times.slice(TOO_MANY, TOO_MANY + READS_WAITING_MAX);
    const stopped = times.slice(TOO_MANY + READS_WAITING_MAX);
    expect(Math.max(...refused)).to.be.below(500);
    expect(Math.min(...waited)).to.be.at.least(READ_WAIT_MS_MAX - 100);
    expect(Math.max(...waited)).to.be.at.most(READ_WAIT_MS_MAX + 500);
    expect(stopped).to.have.length(READS_RUNNING_MAX);
    expect(Math.min(...stopped)).to.be.at.least(5900);
  });
});
