import { expect } from 'chai';
import { CallerCache } from '../../../server/store/cached-callers.ts';
import type { Connection, QueryParams } from '../../../server/store/connection.ts';
import { sql } from '../../../server/store/sql.ts';

const SESSION = sql('session');
const session = { session_hash: 'a' };

describe('CallerCache', () => {
  /** The answers that the store has not given yet, in the order of the requests. */
  let asked: PromiseWithResolvers<unknown[]>[];
  let inserted: PromiseWithResolvers<void>[];
  let cached: Connection;
  beforeEach(() => {
    asked = [];
    inserted = [];
    const pending = <T>(list: PromiseWithResolvers<T>[]) => {
      const answer = Promise.withResolvers<T>();
      list.push(answer);
      return answer.promise;
    };
    const callers = new CallerCache();
    const connection = callers.watch({
      query: <Row>() => pending(asked) as Promise<Row[]>,
      insert: () => pending(inserted),
      command: () => Promise.resolve(),
      queryBytes: () => Promise.resolve(Buffer.alloc(0)),
      close: () => Promise.resolve(),
    });
    cached = callers.answer(connection);
  });

  const insertInto = (table: string) => cached.insert({ table, columns: [], lines: [], token: undefined });
  /** Makes a request, and lets the store answer if it gets one. */
  const ask = async (text: string, params: QueryParams, answer: unknown[]) => {
    const count = asked.length;
    const rows = cached.query(text, params);
    if (asked.length > count) asked.at(-1)?.resolve(answer);
    return rows;
  };

  it('asks the store once for all callers', async () => {
    const both = [cached.query(SESSION, session), cached.query(SESSION, session)];
    asked[0]?.resolve([1]);

    expect(await Promise.all(both)).to.deep.equal([[1], [1]]);
    expect(await ask(SESSION, session, [2])).to.deep.equal([1]);
    expect(await ask(SESSION, { session_hash: 'b' }, [3])).to.deep.equal([3]);
    expect(asked).to.have.length(2);
  });

  for (const [table, expected] of [
    ['sessions', [2]],
    ['accounts', [2]],
    ['projects', [2]],
    ['project_members', [2]],
    ['activity', [1]],
  ] as const)
    it(`asks ${expected[0] === 2 ? 'again' : 'nothing'} after an insert into ${table}`, async () => {
      await ask(SESSION, session, [1]);
      const insert = insertInto(table);
      inserted[0]?.resolve();
      await insert;

      expect(await ask(SESSION, session, [2])).to.deep.equal(expected);
    });

  it('forgets after a failed insert as well, because the row may be there', async () => {
    await ask(SESSION, session, [1]);
    const insert = insertInto('sessions');
    inserted[0]?.reject(new Error('late'));

    expect(await insert.catch(String)).to.equal('Error: late');
    expect(await ask(SESSION, session, [2])).to.deep.equal([2]);
  });

  it('does not keep an answer overtaken by an insert', async () => {
    const early = cached.query(SESSION, session);
    const insert = insertInto('sessions');
    inserted[0]?.resolve();
    await insert;
    const later = ask(SESSION, session, [2]);
    asked[0]?.resolve([1]);

    expect(await early).to.deep.equal([1]);
    expect(await later).to.deep.equal([2]);
    expect(await ask(SESSION, session, [3])).to.deep.equal([2]);
  });

  it('does not keep failures', async () => {
    const failing = cached.query(SESSION, session);
    asked[0]?.reject(new Error('away'));

    expect(await failing.catch(String)).to.equal('Error: away');
    expect(await ask(SESSION, session, [1])).to.deep.equal([1]);
  });

  it('passes on every other statement', async () => {
    expect(await ask('SELECT 1', {}, [1])).to.deep.equal([1]);
    expect(await ask('SELECT 1', {}, [2])).to.deep.equal([2]);
  });
});
