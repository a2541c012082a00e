import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import { BoundedQueue } from '../../../server/bounded-queue.ts';
import { RequestError } from '../../../server/errors.ts';

const codeOf = (error: unknown) => (error instanceof RequestError ? error.code : String(error));

/** Work that runs until `end` is called. */
function openWork() {
  const { promise, resolve } = Promise.withResolvers<void>();
  let isRunning = false;
  const run = async () => {
    isRunning = true;
    await promise;
  };
  return { run, end: resolve, isRunning: () => isRunning };
}

describe('BoundedQueue', () => {
  it('runs at most runningMax at once, and the others in order', async () => {
    const work = new BoundedQueue({ runningMax: 2, waitingMax: 10, waitMsMax: 1000 });
    const jobs = Array.from({ length: 4 }, openWork);

    const done = jobs.map(({ run }) => work.run(run));
    const atFirst = jobs.map(({ isRunning }) => isRunning());
    jobs[1]?.end();
    await done[1];
    await setImmediate();
    const then = jobs.map(({ isRunning }) => isRunning());
    for (const { end } of jobs) end();
    await Promise.all(done);

    expect(atFirst).to.deep.equal([true, true, false, false]);
    expect(then).to.deep.equal([true, true, true, false]);
  });

  it('rejects when the queue is full, and when the wait is too long', async () => {
    const work = new BoundedQueue({ runningMax: 1, waitingMax: 1, waitMsMax: 20 });
    const job = openWork();
    const running = work.run(job.run);

    const waiting = work.run(() => Promise.resolve()).catch(codeOf);
    const refused = await work.run(() => Promise.resolve()).catch(codeOf);

    expect([refused, await waiting]).to.deep.equal(['overloaded', 'overloaded']);
    job.end();
    await running;
    expect(await work.run(() => Promise.resolve('free again'))).to.equal('free again');
  });

  it('continues after work that fails', async () => {
    const work = new BoundedQueue({ runningMax: 1, waitingMax: 1, waitMsMax: 1000 });

    await work.run(() => Promise.reject(new Error('no'))).catch(() => undefined);

    expect(await work.run(() => Promise.resolve(7))).to.equal(7);
  });

  it('ends a wait when its signal aborts, and leaves running work its place', async () => {
    const work = new BoundedQueue({ runningMax: 1, waitingMax: 2, waitMsMax: 1000 });
    const job = openWork();
    const gone = new AbortController();
    const running = work.run(job.run, { signal: gone.signal });
    const aborted = work.run(() => Promise.resolve('aborted'), { signal: gone.signal }).catch(codeOf);
    const next = work.run(() => Promise.resolve('next'));

    gone.abort();

    expect(await aborted).to.equal('overloaded');
    const late = work.run(() => Promise.resolve('late'), { signal: gone.signal }).catch(codeOf);
    expect(await late).to.equal('overloaded');
    expect(await Promise.race([next, setImmediate('waits')])).to.equal('waits');
    job.end();
    await running;
    expect(await next).to.equal('next');
  });

  it('rejects all waiting work with one error, and runs on', async () => {
    const work = new BoundedQueue({ runningMax: 1, waitingMax: 2, waitMsMax: 1000 });
    const job = openWork();
    const running = work.run(job.run);
    const waiting = [1, 2].map((n) => work.run(() => Promise.resolve(n)).catch(String));

    work.rejectWaiting(new Error('away'));

    expect(await Promise.all(waiting)).to.deep.equal(['Error: away', 'Error: away']);
    job.end();
    await running;
    expect(await work.run(() => Promise.resolve(7))).to.equal(7);
  });
});
