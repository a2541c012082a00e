import { expect } from 'chai';
import { setTimeout as sleep } from 'node:timers/promises';
import { STATEMENTS_OPEN_MAX } from '../../../server/limits.ts';
import { createBoundedStore } from '../../../server/store/bounded-store.ts';
import { StoreError } from '../../../server/store/store-error.ts';

const codeOf = (error: unknown) => (error instanceof StoreError ? error.code : String(error));
const ready = () => Promise.resolve();
const insert = () => Promise.resolve();

describe('createBoundedStore', () => {
  it('refuses at once when too many statements are open, and accepts more when they are done', async () => {
    const { promise: answer, resolve } = Promise.withResolvers<never[]>();
    const store = createBoundedStore({ query: () => answer, insert }, ready);
    const open = Array.from({ length: STATEMENTS_OPEN_MAX }, () => store.query('SELECT 1'));

    const refused = await store.query('SELECT 1').catch(codeOf);
    resolve([]);
    await Promise.all(open);

    expect(refused).to.equal('overloaded');
    expect(await store.query('SELECT 1')).to.deep.equal([]);
  });

  it('gives up on a statement that takes longer than 2.3 s', async () => {
    const store = createBoundedStore({ query: () => new Promise(() => undefined), insert }, ready);
    const startMs = performance.now();

    expect(await store.query('SELECT 1').catch(codeOf)).to.equal('store_unavailable');
    expect(performance.now() - startMs).to.be.within(2200, 3300);
  });

  it('measures how long the store has been silent, from the last answer or the first open statement', async () => {
    const answers = [Promise.withResolvers<never[]>(), Promise.withResolvers<never[]>()] as const;
    const waiting = answers.map(({ promise }) => promise);
    const store = createBoundedStore({ query: () => waiting.shift() as Promise<never[]>, insert }, ready);
    /** Whether the silence that the store measures began between the two moments. */
    const beganWithin = (fromMs: number, toMs: number) => {
      const atLeastMs = performance.now() - toMs;
      const silentMs = store.silentMs();
      return silentMs >= atLeastMs && silentMs <= performance.now() - fromMs;
    };
    const now = () => performance.now();

    const idle = store.silentMs();
    const startMs = now();
    const open = [store.query('SELECT 1'), store.query('SELECT 2')];
    const openMs = now();
    await sleep(200);
    const before = beganWithin(startMs, openMs);
    const endMs = now();
    answers[0].resolve([]);
    await open[0];
    const endedMs = now();
    await sleep(150);
    const after = beganWithin(endMs, endedMs);
    answers[1].resolve([]);
    await open[1];

    expect([idle, before, after, store.silentMs()]).to.deep.equal([0, true, true, 0]);
  });
});
