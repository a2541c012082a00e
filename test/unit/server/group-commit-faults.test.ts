import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FlushOutcome } from '../../../server/commit/flush-numbers.ts';
import type { GroupCommitOptions } from '../../../server/commit/group-commit.ts';
import type { Entry } from '../../../server/commit/write-queue.ts';
import { DECISION_COLUMNS } from '../../../server/ingest/decision-event.ts';
import { WRITE_WAIT_MS_MAX } from '../../../server/limits.ts';
import type { Connection } from '../../../server/store/connection.ts';
import { StoreError } from '../../../server/store/store-error.ts';
import type { Store } from '../../../server/store/store.ts';
import { openStore } from '../../support/engine.ts';
import { eventually } from '../../support/eventually.ts';
import { entryOf } from '../../support/rows.ts';
import { entriesOf, type MadeCommit, makeCommit, storedIn, writeAll } from './support/commit.ts';

/**
 * How the next statements of a connection end. lost: carried out, but the answer is lost; half: only half of the rows are written; refused:
 * nothing is carried out. Statements after the last one succeed.
 */
type Ends = ('fine' | 'lost' | 'half' | 'refused')[];

const away = () => new StoreError('store_unavailable', 'The connection broke.');

function breaking(
  connection: Connection,
  { inserts = [], queries = [] }: { inserts?: Ends; queries?: Ends },
) {
  return {
    ...connection,
    insert: async (rows) => {
      const end = inserts.shift() ?? 'fine';
      const lines = end === 'half' ? rows.lines.slice(0, rows.lines.length / 2) : rows.lines;
      if (end !== 'refused') await connection.insert({ ...rows, lines });
      if (end !== 'fine') throw away();
    },
    query: async <Row>(...asked: Parameters<Connection['query']>) => {
      if ((queries.shift() ?? 'fine') !== 'fine') throw away();
      return connection.query<Row>(...asked);
    },
  } satisfies Connection;
}

describe('GroupCommit on an engine whose answers are lost', () => {
  let store: Store;
  let project: string;
  before(async () => {
    store = await openStore();
    await store.lookups.command("ALTER TABLE decisions ADD CONSTRAINT no_poison CHECK tool_name != 'poison'");
  });
  after(() => store.close());
  beforeEach(() => (project = randomUUID()));

  const storedIds = async () => (await storedIn(store, project)).map(({ event_id }) => event_id).sort();
  const make = (ends: Parameters<typeof breaking>[1], options: Partial<GroupCommitOptions> = {}) =>
    makeCommit(store, { connection: breaking(store.writer, ends), ...options });
  const idsOf = (entries: ReturnType<typeof entriesOf>) =>
    entries.map(({ identity }) => identity.event_id).sort();

  for (const [what, inserts] of [
    ['that wrote all rows', ['lost']],
    ['that wrote half of the rows', ['half']],
    ['that wrote none', ['refused']],
    ['that wrote none, and again', ['refused', 'refused']],
    ['that wrote half of the rows, and of the rest', ['half', 'half']],
  ] as [string, Ends][])
    it(`acknowledges and stores each row once after an insert ${what}`, async () => {
      const made = make({ inserts: [...inserts] });
      const entries = entriesOf(40, project);

      const results = await writeAll(made, entries);
      await made.close();

      expect(new Set(results)).to.deep.equal(new Set(['accepted']));
      expect(await storedIds()).to.deep.equal(idsOf(entries));
    });

  it('fails the rows, and those that repeat them, when the store refuses each attempt; sent again, they are new', async () => {
    const made = make({ inserts: ['refused', 'refused', 'refused'] });
    const entries = entriesOf(3, project);

    const results = await writeAll(made, [...entries, ...entries]);
    const unit = await made.commit.writeAll(entries);
    await made.close();

    expect(results).to.deep.equal(Array.from({ length: 6 }, () => 'store_unavailable'));
    expect(unit).to.deep.equal(['accepted', 'accepted', 'accepted']);
    expect(await storedIds()).to.deep.equal(idsOf(entries));
  });

  it('fails uncertain rows while nobody can look; sent again, they are the earlier records', async () => {
    // The look-ups before the second and the third attempt, and before the next flush.
    const made = make({ inserts: ['half'], queries: ['refused', 'refused', 'refused'] });
    const entries = entriesOf(4, project);

    const results = [];
    for (let times = 0; times < 4; times += 1) results.push(await writeAll(made, entries));
    await made.close();

    const failed = entries.map(() => 'store_unavailable');
    expect(results).to.deep.equal([
      failed,
      failed,
      ['duplicate', 'duplicate', 'accepted', 'accepted'],
      entries.map(() => 'duplicate'),
    ]);
    expect(await storedIds()).to.deep.equal(idsOf(entries));
  });

  it('fails only the row that the store rejects at the second attempt', async () => {
    const made = make({ inserts: ['refused'] });
    const entries = ['fine', 'poison', 'fine'].map((tool_name) => entryOf(project, { tool_name }));

    const results = await writeAll(made, entries);
    await made.close();

    expect(results).to.deep.equal(['accepted', 'row_rejected', 'accepted']);
    expect((await storedIds()).length).to.equal(2);
  });

  it('fails a whole unit with one of its rows', async () => {
    const made = make({ inserts: ['refused', 'refused', 'refused'] });

    const error = await made.commit.writeAll(entriesOf(3, project)).catch((thrown: StoreError) => thrown);
    await made.close();

    expect(error).to.include({ code: 'store_unavailable' });
  });

  it('leaves no filter for the next start after an insert whose outcome was unknown', async () => {
    const isLeftAfter = async (inserts: Ends) => {
      const made = make({ inserts });
      await writeAll(made, entriesOf(1, project));
      await eventually(() => made.identities.filter?.isComplete);
      await made.close();
      return made.identities.filterToSave !== undefined;
    };

    expect([await isLeftAfter(['fine']), await isLeftAfter(['lost'])]).to.deep.equal([true, false]);
  });

  describe('reports how each insert ended', () => {
    const OTHER = randomUUID();
    type Ended = FlushOutcome & { flush: bigint };

    async function outcomesOf(
      ends: Parameters<typeof breaking>[1],
      options: Partial<GroupCommitOptions> = {},
    ) {
      const ended: Ended[] = [];
      let last = 0n;
      const flushes = {
        next: () => (last += 1n),
        ended: (flush: bigint, outcome: FlushOutcome) => ended.push({ flush, ...outcome }),
      };
      const columns = [...DECISION_COLUMNS, 'flush'];
      const made = make(ends, { columns, flushes, ...options });
      const tool_name = ends.inserts === undefined ? 'poison' : 'fine';
      await writeAll(made, [entryOf(project), entryOf(OTHER, { tool_name })]);
      await made.close();
      return ended.map(({ flush, isSettled, projects }) => [Number(flush), isSettled, projects.size]);
    }

    it('that one has ended with all its rows, at the first or a later attempt', async () => {
      expect(await outcomesOf({ inserts: ['fine'] })).to.deep.equal([[1, true, 2]]);
      expect(await outcomesOf({ inserts: ['half', 'refused'] })).to.deep.equal([[1, true, 2]]);
    });

    it('that the outcome is unknown if it failed, or was gathered with others', async () => {
      const refused: Ends = ['refused', 'refused', 'refused'];

      expect(await outcomesOf({ inserts: refused })).to.deep.equal([[1, false, 2]]);
      expect(await outcomesOf({ inserts: ['refused'] }, { mergeMs: 1 })).to.deep.equal([[1, false, 2]]);
      expect(await outcomesOf({ inserts: ['fine'] }, { mergeMs: 1 })).to.deep.equal([[1, true, 2]]);
    });

    it('that an insert with a bad row is divided', async () => {
      expect(await outcomesOf({})).to.deep.equal([
        [2, true, 1],
        [3, false, 1],
        [1, false, 2],
      ]);
    });
  });

  it('waits for callers who were just answered, so that they share the next flush', async () => {
    const insert = async (rows: Parameters<Connection['insert']>[0]) => {
      await sleep(20);
      await store.writer.insert(rows);
    };
    const made = makeCommit(store, { connection: { ...store.writer, insert } });
    const callers = [1, 2, 3, 4].map(async (pauseMs) => {
      for (const entry of entriesOf(10, project)) {
        await made.commit.write(entry);
        await sleep(pauseMs);
      }
    });

    await Promise.all(callers);
    await made.close();

    // 20 flushes of one and three rows, if each begins as soon as it can.
    expect(made.batches.length).to.be.below(16);
  });

  describe('when a flush takes too long', () => {
    /** A commit whose first insert waits for `release`. */
    function waiting(): MadeCommit & { release: () => void } {
      const released = Promise.withResolvers<void>();
      let inserts = 0;
      const connection: Connection = {
        ...store.writer,
        insert: async (rows) => {
          inserts += 1;
          if (inserts === 1) await released.promise;
          await store.writer.insert(rows);
        },
      };
      return { ...makeCommit(store, { connection }), release: released.resolve };
    }

    it('fails callers who have waited too long: in the flush, after it, and for the same identity; drops only rows whose write has not begun', async () => {
      const made = waiting();
      const [inFlush, behind, later] = entriesOf(3, project) as [Entry, Entry, Entry];
      const longAgoMs = performance.now() - WRITE_WAIT_MS_MAX;

      const first = writeAll(made, [inFlush], longAgoMs);
      await sleep(50);
      const others = writeAll(made, [behind, inFlush], longAgoMs);
      const patient = writeAll(made, [later, inFlush]);
      const failed = await Promise.all([first, others]);
      made.release();
      const written = await patient;
      const again = await writeAll(made, [behind, inFlush]);
      await made.close();

      expect(failed.flat()).to.deep.equal(Array.from({ length: 3 }, () => 'store_unavailable'));
      expect(written).to.deep.equal(['accepted', 'duplicate']);
      expect(again).to.deep.equal(['accepted', 'duplicate']);
      expect(await storedIds()).to.deep.equal(idsOf([inFlush, behind, later]));
    });
  });
});
