import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import type { Entry } from '../../../server/commit/write-queue.ts';
import type { RequestError } from '../../../server/errors.ts';
import type { Store } from '../../../server/store/store.ts';
import { openStore } from '../../support/engine.ts';
import { entryOf } from '../../support/rows.ts';
import { entriesOf, type MadeCommit, makeCommit, storedIn, writeAll } from './support/commit.ts';

describe('GroupCommit on the embedded engine', () => {
  let store: Store;
  before(async () => {
    store = await openStore();
    await store.lookups.command("ALTER TABLE decisions ADD CONSTRAINT no_poison CHECK tool_name != 'poison'");
  });
  after(() => store.close());

  const make = (options?: Parameters<typeof makeCommit>[1]) => makeCommit(store, options);
  const stored = (project_id: string) => storedIn(store, project_id);

  it('writes rows that arrive together in one batch', async () => {
    const [made, project] = [make(), randomUUID()];

    const results = await writeAll(made, entriesOf(100, project));
    await made.close();

    expect(results).to.deep.equal(results.map(() => 'accepted'));
    expect(made.batches).to.deep.equal([100]);
    expect((await stored(project)).length).to.equal(100);
  });

  it('fails only the row that the store rejects, out of a batch of 100', async () => {
    const [made, project] = [make(), randomUUID()];
    const entries = Array.from({ length: 100 }, (_, i) =>
      entryOf(project, { tool_name: i === 61 ? 'poison' : 'fine' }),
    );

    const results = await writeAll(made, entries);
    await made.close();

    expect(results).to.deep.equal(entries.map((_, i) => (i === 61 ? 'row_rejected' : 'accepted')));
    const ids = entries.filter((_, i) => i !== 61).map(({ identity }) => identity.event_id);
    expect((await stored(project)).map(({ event_id }) => event_id).sort()).to.deep.equal(ids.sort());
  });

  it('fails every row of a batch when the store rejects all of them', async () => {
    const [made, project] = [make(), randomUUID()];

    const results = await writeAll(made, entriesOf(8, project, { tool_name: 'poison' }));
    await made.close();

    expect(results).to.deep.equal(results.map(() => 'row_rejected'));
    expect(await stored(project)).to.deep.equal([]);
  });

  it('keeps the first write of an identity, within a batch and after it', async () => {
    const [made, project, event_id] = [make(), randomUUID(), randomUUID()];

    const together = await writeAll(
      made,
      ['first', 'second', 'third'].map((reason) => entryOf(project, { event_id, reason })),
    );
    const later = await writeAll(made, [entryOf(project, { event_id, reason: 'later' })]);
    await made.close();

    expect([...together, ...later]).to.deep.equal(['accepted', 'duplicate', 'duplicate', 'duplicate']);
    expect(await stored(project)).to.deep.equal([{ event_id, reason: 'first' }]);
  });

  it('accepts the next write of an identity when the store rejects the first', async () => {
    const [made, project, event_id] = [make(), randomUUID(), randomUUID()];
    const poison = entryOf(project, { event_id, tool_name: 'poison' });

    const results = await writeAll(made, [
      poison,
      entryOf(project, { event_id, reason: 'second' }),
      entryOf(project, { event_id, reason: 'third' }),
    ]);
    await made.close();

    expect(results).to.deep.equal(['row_rejected', 'accepted', 'duplicate']);
    expect(await stored(project)).to.deep.equal([{ event_id, reason: 'second' }]);
  });

  it('knows after a restart what the previous process wrote', async () => {
    const [before, after, project, event_id] = [make(), make(), randomUUID(), randomUUID()];
    await writeAll(before, [entryOf(project, { event_id, reason: 'before' })]);
    await before.close();

    const results = await writeAll(after, [
      entryOf(project, { event_id, reason: 'after' }),
      entryOf(project),
    ]);
    await after.close();

    expect(results).to.deep.equal(['duplicate', 'accepted']);
    expect((await stored(project)).filter((row) => row.event_id === event_id)).to.deep.equal([
      { event_id, reason: 'before' },
    ]);
  });

  it('keeps one record for each of two projects with the same event_id', async () => {
    const [made, one, two, event_id] = [make(), randomUUID(), randomUUID(), randomUUID()];

    const results = await writeAll(made, [
      entryOf(one, { event_id }),
      entryOf(two, { event_id }),
      entryOf(two, { event_id }),
    ]);
    await made.close();

    expect(results).to.deep.equal(['accepted', 'accepted', 'duplicate']);
    expect([(await stored(one)).length, (await stored(two)).length]).to.deep.equal([1, 1]);
  });

  it('never writes more than batchRowsMax rows in a batch', async () => {
    const [made, project] = [make({ batchRowsMax: 10 }), randomUUID()];

    await writeAll(made, entriesOf(45, project));
    await made.close();

    expect(Math.max(...made.batches)).to.equal(10);
    expect(made.batches.reduce((sum, rows) => sum + rows, 0)).to.equal(45);
  });

  it('refuses at once beyond queueRowsMax, and writes exactly what it accepted', async () => {
    const [made, project] = [make({ queueRowsMax: 20 }), randomUUID()];

    const results = await writeAll(made, entriesOf(30, project));
    await made.close();

    expect(results).to.deep.equal(results.map((_, i) => (i < 20 ? 'accepted' : 'overloaded')));
    expect((await stored(project)).length).to.equal(20);
  });

  it('refuses at once beyond queueBytesMax', async () => {
    const project = randomUUID();
    const entries = entriesOf(30, project);
    const bytes = Math.max(...entries.map(({ line }) => Buffer.byteLength(line)));
    const made = make({ queueBytesMax: bytes * 10 });

    const results = await writeAll(made, entries);
    await made.close();

    expect(results.filter((result) => result === 'accepted').length).to.be.within(9, 11);
    expect(results.filter((result) => result === 'overloaded').length).to.be.within(19, 21);
  });

  it('counts duplicates that wait for the first write towards the bound', async () => {
    const [made, project, event_id] = [make({ queueRowsMax: 20 }), randomUUID(), randomUUID()];

    const results = await writeAll(made, entriesOf(30, project, { event_id }));
    const later = await writeAll(made, [entryOf(project)]);
    await made.close();

    expect(results).to.deep.equal(
      results.map((_, i) => ['accepted', 'duplicate', 'overloaded'][i === 0 ? 0 : i < 20 ? 1 : 2]),
    );
    expect(later).to.deep.equal(['accepted']);
  });

  it('accepts writes again after the queue was written', async () => {
    const [made, project] = [make({ queueRowsMax: 5 }), randomUUID()];

    const first = await writeAll(made, entriesOf(6, project));
    const second = await writeAll(made, entriesOf(5, project));
    await made.close();

    expect(first.at(-1)).to.equal('overloaded');
    expect(second).to.deep.equal(second.map(() => 'accepted'));
  });

  describe('of units of several rows', () => {
    /** The result of each row of each unit, or the code with which the whole unit failed. */
    const writeUnits = ({ commit }: MadeCommit, units: Entry[][]): Promise<(string | string[])[]> =>
      Promise.all(
        units.map((unit) =>
          commit.writeAll(unit).then(
            (results) => results.map((result) => (typeof result === 'string' ? result : result.code)),
            (error: RequestError) => error.code,
          ),
        ),
      );

    it('writes units and single rows in one batch, and answers each by its rows', async () => {
      const [made, project, event_id] = [make(), randomUUID(), randomUUID()];
      const poison = entryOf(project, { tool_name: 'poison' });
      const twice = entriesOf(2, project, { event_id });

      const [units, single] = await Promise.all([
        writeUnits(made, [
          [entryOf(project), ...twice, poison],
          [...twice, entryOf(project)],
        ]),
        writeAll(made, [entryOf(project), twice[0] as Entry]),
      ]);
      await made.close();

      expect(units).to.deep.equal([
        ['accepted', 'accepted', 'duplicate', 'row_rejected'],
        ['duplicate', 'duplicate', 'accepted'],
      ]);
      expect(single).to.deep.equal(['accepted', 'duplicate']);
      expect(made.batches).to.deep.equal([5]);
      expect((await stored(project)).length).to.equal(4);
    });

    it('accepts the second row of an identity in a unit when the store rejects the first', async () => {
      const [made, project, event_id] = [make(), randomUUID(), randomUUID()];
      const rows = ['poison', 'fine', 'fine'].map((tool_name) => entryOf(project, { event_id, tool_name }));

      const results = await writeUnits(made, [rows]);
      await made.close();

      expect(results).to.deep.equal([['row_rejected', 'accepted', 'duplicate']]);
    });

    it('divides no unit that fits into a batch, and only one that does not', async () => {
      const [made, project] = [make({ batchRowsMax: 10 }), randomUUID()];

      const results = await writeUnits(
        made,
        [6, 6, 3, 25, 1].map((rows) => entriesOf(rows, project)),
      );
      await made.close();

      // The single row goes first.
      expect(made.batches).to.deep.equal([7, 9, 10, 10, 5]);
      expect(results.flat()).to.deep.equal(Array.from({ length: 41 }, () => 'accepted'));
    });

    it('takes few larger units at a time while single callers wait, or waited for the last flush', async () => {
      const [made, project] = [make(), randomUUID()];

      const results = await writeUnits(
        made,
        [300, 200, 300, 1, 800, 300, 300].map((rows) => entriesOf(rows, project)),
      );
      await made.close();

      expect(made.batches).to.deep.equal([501, 300, 1400]);
      expect(results.flat()).to.deep.equal(Array.from({ length: 2201 }, () => 'accepted'));
    });

    it('takes few bytes of larger units while single callers wait, and divides one that has more', async () => {
      const [made, project] = [make({ queueBytesMax: 100_000_000 }), randomUUID()];
      const large = Array.from({ length: 400 }, () => entryOf(project, { reason: 'x'.repeat(4000) }));

      const results = await writeUnits(made, [large, entriesOf(1, project)]);
      await made.close();

      // A mebibyte is about 249 of the large rows.
      expect(made.batches[0]).to.be.within(240, 256);
      expect(made.batches.reduce((sum, rows) => sum + rows)).to.equal(401);
      expect(results.flat()).to.deep.equal(Array.from({ length: 401 }, () => 'accepted'));
    });

    it('does not keep a larger unit waiting while single rows keep coming', async () => {
      const [made, project] = [make({ batchRowsMax: 20 }), randomUUID()];

      const singles = writeAll(made, entriesOf(60, project));
      await made.commit.writeAll(entriesOf(10, project));
      const flushesBefore = made.batches.length;
      await singles;
      await made.close();

      expect([flushesBefore, made.batches.length]).to.deep.equal([0, 4]);
    });

    it('refuses a unit that would go beyond queueRowsMax, but any into an empty queue', async () => {
      const [made, project] = [make({ queueRowsMax: 20 }), randomUUID()];

      const some = await writeUnits(
        made,
        [15, 6, 5, 1].map((rows) => entriesOf(rows, project)),
      );
      const large = await writeUnits(made, [entriesOf(30, project), entriesOf(1, project)]);
      await made.close();

      expect(some.map((results) => results.length)).to.deep.equal([
        15,
        'overloaded'.length,
        5,
        'overloaded'.length,
      ]);
      expect([some[1], some[3]]).to.deep.equal(['overloaded', 'overloaded']);
      expect([large[0]?.length, large[1]]).to.deep.equal([30, 'overloaded']);
      expect((await stored(project)).length).to.equal(50);
    });
  });

  it('drains: resolves when everything accepted is written', async () => {
    const [made, project] = [make(), randomUUID()];
    const writes = writeAll(made, entriesOf(50, project));

    await made.commit.drain();
    const rows = await stored(project);
    await made.close();

    expect(rows.length).to.equal(50);
    expect((await writes).length).to.equal(50);
  });
});
