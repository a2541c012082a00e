import { expect } from 'chai';
import { KeyedMutex } from '../../../server/keyed-mutex.ts';
import { claim } from '../../../server/store/claim.ts';

/** A table that keeps only the first insert with a token, like the engine's insert deduplication. */
function createTable() {
  const rows: string[] = [];
  const tokens = new Set<string>();
  const pause = () => new Promise((resolve) => setTimeout(resolve, Math.random() * 5));
  return {
    rows,
    find: async () => {
      await pause();
      return rows[0];
    },
    write: async (row: string, token: string) => {
      await pause();
      if (!tokens.has(token)) rows.push(row);
      tokens.add(token);
      await pause();
    },
  };
}

const ANSWERING = { silentMs: () => 0 };

describe('claim', () => {
  for (const processes of [1, 5]) {
    it(`returns the same holder to 50 callers in ${processes} process(es)`, async () => {
      const table = createTable();
      const mutexes = Array.from({ length: processes }, () => new KeyedMutex(ANSWERING));

      const holders = await Promise.all(
        Array.from({ length: 50 }, (_, i) =>
          claim(mutexes[i % processes] ?? new KeyedMutex(ANSWERING), 'email:a@example.com', {
            find: table.find,
            write: (token) => table.write(`caller ${i}`, token),
          }),
        ),
      );

      expect(new Set(holders).size).to.equal(1);
      expect(table.rows).to.deep.equal([holders[0]]);
    });
  }

  it('writes nothing when there is a holder already', async () => {
    const table = createTable();
    table.rows.push('first');

    const holder = await claim(new KeyedMutex(ANSWERING), 'x', {
      find: table.find,
      write: (token) => table.write('late', token),
    });

    expect([holder, table.rows]).to.deep.equal(['first', ['first']]);
  });
});
