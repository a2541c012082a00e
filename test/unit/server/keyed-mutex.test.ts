import { expect } from 'chai';
import { setTimeout as sleep } from 'node:timers/promises';
import { RequestError } from '../../../server/errors.ts';
import { KeyedMutex } from '../../../server/keyed-mutex.ts';

const codeOf = (error: unknown) => (error instanceof RequestError ? error.code : String(error));

const ANSWERING = { silentMs: () => 0 };

describe('KeyedMutex', () => {
  it('runs the work of a key one at a time and in order, and other keys concurrently', async () => {
    const mutex = new KeyedMutex(ANSWERING);
    const log: string[] = [];
    const work = (name: string, ms: number) => async () => {
      log.push(`${name} begins`);
      await sleep(ms);
      log.push(`${name} ends`);
    };

    await Promise.all([
      mutex.run('a', work('1', 40)),
      mutex.run('a', work('2', 1)),
      mutex.run('b', work('3', 10)),
      mutex.run('a', () => Promise.reject(new Error('no'))).catch(() => undefined),
      mutex.run('a', work('4', 1)),
    ]);

    expect(log).to.deep.equal([
      '1 begins',
      '3 begins',
      '3 ends',
      '1 ends',
      '2 begins',
      '2 ends',
      '4 begins',
      '4 ends',
    ]);
  });

  it('rejects after 4 s while earlier work does not end, and runs again when it has ended', async () => {
    const mutex = new KeyedMutex(ANSWERING);
    const hanging = Promise.withResolvers<void>();
    const running = mutex.run('a', () => hanging.promise);
    const startMs = performance.now();

    const refused = await Promise.all(
      Array.from({ length: 5 }, () => mutex.run('a', () => Promise.resolve('ran')).catch(codeOf)),
    );
    const tookMs = performance.now() - startMs;
    hanging.resolve();
    await running;

    expect(refused).to.deep.equal(Array(5).fill('overloaded'));
    expect(tookMs).to.be.within(3900, 5000);
    expect(await mutex.run('a', () => Promise.resolve('ran'))).to.equal('ran');
  });

  it('waits for slow work while the store answers or has nothing to answer', async () => {
    const mutex = new KeyedMutex({ silentMs: () => 1200 });
    const slow = mutex.run('a', () => sleep(2000));

    const behind = await Promise.all(Array.from({ length: 5 }, () => mutex.run('a', () => sleep(1, 'ran'))));

    expect(behind).to.deep.equal(Array(5).fill('ran'));
    await slow;
  });

  it('rejects while waiting for other work as soon as the store has been silent for 1.5 s', async () => {
    const startMs = performance.now();
    const mutex = new KeyedMutex({ silentMs: () => performance.now() - startMs });
    const hanging = Promise.withResolvers<void>();
    const running = mutex.run('a', () => hanging.promise);
    const refused = () => mutex.run('a', () => Promise.resolve('ran')).catch(codeOf);

    const codes = await Promise.all(Array.from({ length: 5 }, refused));
    const tookMs = performance.now() - startMs;
    codes.push(await Promise.race([refused(), sleep(500, 'waits')]));

    expect(codes).to.deep.equal(Array(6).fill('overloaded'));
    expect(tookMs).to.be.within(1490, 2500);
    hanging.resolve();
    await running;
    expect(await mutex.run('a', () => Promise.resolve('ran'))).to.equal('ran');
  });

  it('never runs two at once after a caller has given up', async () => {
    const mutex = new KeyedMutex(ANSWERING);
    const hanging = Promise.withResolvers<void>();
    let running = 0;
    let most = 0;
    const work = async (wait: Promise<unknown>) => {
      running += 1;
      most = Math.max(most, running);
      await wait;
      running -= 1;
    };
    const first = mutex.run('a', () => work(hanging.promise));
    await mutex.run('a', () => work(Promise.resolve())).catch(codeOf);

    const next = mutex.run('a', () => work(sleep(5)));
    hanging.resolve();
    await Promise.all([first, next, mutex.run('a', () => work(sleep(5)))]);

    expect([most, running]).to.deep.equal([1, 0]);
  });
});
