import { expect } from 'chai';
import { BoundedWork } from '../../../server/accounts/bounded-work.ts';
import { RequestError } from '../../../server/errors.ts';

const codeOf = (error: unknown) => (error instanceof RequestError ? error.code : String(error));

/** Work that goes on until it is told to end. */
function openWork() {
  const { promise, resolve } = Promise.withResolvers<void>();
  let isRunning = false;
  const run = async () => {
    isRunning = true;
    await promise;
  };
  return { run, end: resolve, isRunning: () => isRunning };
}

describe('BoundedWork', () => {
  it('runs so many at once, and the next in the order they came', async () => {
    const work = new BoundedWork({ runningMax: 2, waitingMax: 10, waitMsMax: 1000 });
    const jobs = Array.from({ length: 4 }, openWork);

    const done = jobs.map(({ run }) => work.run(run));
    const atFirst = jobs.map(({ isRunning }) => isRunning());
    jobs[1]?.end();
    await done[1];
    await Promise.resolve();
    const then = jobs.map(({ isRunning }) => isRunning());
    for (const { end } of jobs) end();
    await Promise.all(done);

    expect(atFirst).to.deep.equal([true, true, false, false]);
    expect(then).to.deep.equal([true, true, true, false]);
  });

  it('refuses at once what would wait behind too many, and after a while what waited too long', async () => {
    const work = new BoundedWork({ runningMax: 1, waitingMax: 1, waitMsMax: 20 });
    const job = openWork();
    const running = work.run(job.run);

    const waiting = work.run(() => Promise.resolve()).catch(codeOf);
    const refused = await work.run(() => Promise.resolve()).catch(codeOf);

    expect([refused, await waiting]).to.deep.equal(['overloaded', 'overloaded']);
    job.end();
    await running;
    expect(await work.run(() => Promise.resolve('free again'))).to.equal('free again');
  });

  it('goes on after work that failed', async () => {
    const work = new BoundedWork({ runningMax: 1, waitingMax: 1, waitMsMax: 1000 });

    await work.run(() => Promise.reject(new Error('no'))).catch(() => undefined);

    expect(await work.run(() => Promise.resolve(7))).to.equal(7);
  });
});
