import { expect } from 'chai';
import { STATEMENTS_OPEN_MAX } from '../../../server/limits.ts';
import { createBoundedStore } from '../../../server/store/bounded-store.ts';
import { StoreError } from '../../../server/store/store-error.ts';

const codeOf = (error: unknown) => (error instanceof StoreError ? error.code : String(error));
const ready = () => Promise.resolve();
const insert = () => Promise.resolve();

describe('createBoundedStore', () => {
  it('refuses at once when too many statements are open, and takes them again when they are done', async () => {
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
});
