import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import { mock } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { GrowingFilter } from '../../../server/commit/bloom-filter.ts';
import { keyOf, type Identity, type Stream } from '../../../server/commit/identity.ts';
import { FILTER_SIZES, IdentityFilter } from '../../../server/commit/identity-filter.ts';
import { IdentityConflicts } from '../../../server/commit/identity-conflicts.ts';
import { IdentityIndex } from '../../../server/commit/identity-index.ts';
import { createLogger } from '../../../server/logger.ts';
import type { Connection } from '../../../server/store/connection.ts';
import type { Store } from '../../../server/store/store.ts';
import { openStore } from '../../support/engine.ts';
import { eventually } from '../../support/eventually.ts';
import { HOUR_MS } from '../../../server/durations.ts';

const NIL = '00000000-0000-0000-0000-000000000000';
const GRANULE_ROWS = 256;
const STORED = 1200;
/** Records are compared with identities in slices of ten seconds. */
const SLICE_END_MS = Math.floor(Date.now() / 10_000) * 10_000;
/** About one key in 1,000 is a false positive. */
const FALSE_HITS_MAX = 2;

describe('IdentityIndex on the embedded engine', () => {
  let store: Store;
  before(async () => {
    store = await openStore();
  });
  after(() => store.close());

  const identityOf = (project_id: string, event_id: string = randomUUID()): Identity => ({
    project_id,
    event_id,
    occurredAtMs: Date.now(),
    receivedAtMs: Date.now(),
  });

  function open(connections: { connection: Connection; background: Connection }, pageGranules?: number) {
    const options = { stream: 'decisions' as const, logger: createLogger('silent'), now: Date.now };
    return new IdentityIndex({
      ...options,
      ...connections,
      ...(pageGranules === undefined ? {} : { pageGranules }),
    });
  }

  /** Stores identities as an earlier process would. */
  async function writeBefore(identities: Identity[]): Promise<void> {
    const index = open({ connection: store.lookups, background: store.background });
    await index.open();
    index.add(identities);
    await index.close();
  }

  async function writeRecords(identities: Identity[], table: Stream = 'decisions'): Promise<void> {
    const columns = ['project_id', 'event_id', 'occurred_at', 'received_at', 'version'];
    // Of two rows, the one with the larger version is kept, which is the earlier one.
    const lines = identities.map(({ project_id, event_id, occurredAtMs, receivedAtMs }) =>
      JSON.stringify([project_id, event_id, occurredAtMs, receivedAtMs, 2 ** 52 - receivedAtMs]),
    );
    await store.writer.insert({ table, columns, lines, token: undefined });
  }

  it('finds at its start what a crash kept out of the table, also when the clock was set back by hours', async () => {
    const lost = identityOf(randomUUID());
    const ahead = identityOf(randomUUID());
    await writeBefore([{ ...ahead, receivedAtMs: ahead.receivedAtMs + 3 * HOUR_MS }]);
    await writeRecords([lost]);

    const index = open({ connection: store.lookups, background: store.background });
    await index.open();

    expect([...(await index.findKnown([lost]))]).to.deep.equal([lost]);
    await index.close();
  });

  it('resolves conflicts that a stopped service left, while other services run', async () => {
    const stream = 'llm_invocations';
    const { background, lookups, engines } = store;
    const shared = { background, stream, logger: createLogger('silent'), now: Date.now } as const;
    const conflicts = new IdentityConflicts({ ...shared, connection: background, engines });
    mock.timers.enable({ apis: ['setTimeout'] });
    const index = new IdentityIndex({ ...shared, connection: lookups, conflicts });
    await index.open();
    const lost = identityOf(randomUUID());
    const again = { ...lost, occurredAtMs: lost.occurredAtMs + 1, receivedAtMs: lost.receivedAtMs + 1 };
    await writeRecords([lost, again], stream);
    index.add([again]);
    mock.timers.tick(HOUR_MS / 2);
    mock.timers.reset();

    const rows = `SELECT toUnixTimestamp64Milli(received_at) AS at FROM ${stream} WHERE project_id = {project_id: String}`;
    const found = await eventually(async () => {
      const some = await lookups.query<{ at: string }>(rows, { project_id: lost.project_id });
      return some.length < 2 ? some.map(({ at }) => Number(at)) : undefined;
    });
    expect(found).to.deep.equal([lost.receivedAtMs]);
    await index.close();
  });

  it('with other services on the store, looks again if the answer is old, as after a process freeze', async () => {
    const { background, lookups, engines } = store;
    const shared = {
      background,
      stream: 'decisions',
      logger: createLogger('silent'),
      now: Date.now,
    } as const;
    const conflicts = new IdentityConflicts({ ...shared, connection: background, engines });
    const meanwhile = identityOf(randomUUID());
    const clock = mock.method(performance, 'now', () => 0);
    const connection: Connection = {
      ...lookups,
      query: async (...question) => {
        const answer = await lookups.query(...question);
        if (clock.mock.callCount() === 1) await writeBefore([meanwhile]);
        clock.mock.mockImplementation(() => 1000);
        return answer as never;
      },
    };
    const index = new IdentityIndex({ ...shared, connection, conflicts });

    expect([...(await index.findKnown([meanwhile]))]).to.deep.equal([meanwhile]);
    clock.mock.restore();
    await index.close();
  });

  it('finds a missing identity where another is stored twice, and copies no other', async () => {
    const project = randomUUID();
    const agoMs = (ms: number) => ({ ...identityOf(project), receivedAtMs: SLICE_END_MS - ms });
    const [twice, lost, ...others] = [1, 2, 3, 10_001].map(agoMs) as [Identity, Identity, ...Identity[]];
    await store.background.command('SYSTEM STOP MERGES event_identities');
    await writeBefore([twice, ...others]);
    await writeBefore([twice]);
    await writeRecords([twice, lost, ...others]);

    const index = open({ connection: store.lookups, background: store.background });
    await index.open();
    await index.close();

    const rows = await store.lookups.query<{ event_id: string }>(
      `SELECT event_id FROM event_identities WHERE project_id = '${project}'`,
    );
    const expected = [twice, twice, lost, ...others].map(({ event_id }) => event_id);
    expect(rows.map(({ event_id }) => event_id).toSorted()).to.deep.equal(expected.toSorted());
    await store.background.command('SYSTEM START MERGES event_identities');
  });

  it('knows every stored identity at each page while the filter fills, with fewer look-ups each time', async () => {
    const projects = [randomUUID(), randomUUID()];
    const stored = [
      ...projects.map((project) => identityOf(project, NIL)),
      ...Array.from({ length: STORED }, (_, i) => identityOf(projects[i % 2] ?? '')),
    ];
    await writeBefore(stored);
    const fresh = Array.from({ length: 60 }, (_, i) => identityOf(projects[i % 2] ?? ''));
    // The test releases each page.
    const turns: (() => void)[] = [];
    const background: Connection = {
      ...store.background,
      queryBytes: async (...asked) => {
        await new Promise<void>((resolve) => turns.push(resolve));
        return store.background.queryBytes(...asked);
      },
    };
    const lookedUp: number[] = [];
    const connection: Connection = {
      ...store.lookups,
      query: (sql, params = {}) => {
        lookedUp.push((params['event_ids'] as string[]).length);
        return store.lookups.query(sql, params);
      },
    };
    const index = open({ connection, background }, 1);
    await index.open();
    await eventually(() => turns.length > 0);

    /** How many of the free identities are looked up in the store. */
    const lookUps = async () => {
      lookedUp.length = 0;
      expect((await index.findKnown(fresh)).size).to.equal(0);
      return lookedUp.reduce((sum, count) => sum + count, 0);
    };
    const perPage: number[] = [];
    for (;;) {
      const known = await index.findKnown(stored);
      expect([...known].map(keyOf).sort()).to.deep.equal(stored.map(keyOf).sort());
      perPage.push(await lookUps());
      const next = turns.shift();
      if (next === undefined) break;
      next();
      await eventually(async () => turns.length > 0 || (await lookUps()) <= FALSE_HITS_MAX);
    }
    await index.close();

    expect(perPage[0]).to.equal(fresh.length);
    expect(perPage.at(-1)).to.be.at.most(FALSE_HITS_MAX);
    expect(perPage.length).to.be.at.least(STORED / GRANULE_ROWS);
    expect(perPage).to.deep.equal(perPage.toSorted((a, b) => b - a));
  });

  it('fills a filter with room for a fifth more, so that it does not grow with the next event', async () => {
    const stored = 300_000;
    await store.background.command(
      `INSERT INTO event_identities (stream, project_id, event_id, occurred_at, received_at)
       SELECT 'llm_invocations', 'many', generateUUIDv4(), now64(3), now64(3) FROM numbers(${stored})`,
    );
    const index = new IdentityIndex({
      connection: store.lookups,
      background: store.background,
      stream: 'llm_invocations',
      logger: createLogger('silent'),
      now: Date.now,
      pageGranules: 100,
    });
    await index.open();
    await eventually(() => index.filter?.isComplete);

    expect(index.filter?.filter.keys).to.be.at.least(stored);
    expect(index.filter?.filter.filters.at(-1)?.keysMax).to.be.at.least(stored * 1.2);
    await index.close();
  });

  for (const [what, canBeUsed] of [
    ['', true],
    [', and when it cannot be used after all', false],
  ] as const)
    it(`lets writes continue while it reads the filter of the last process, and knows them${what}`, async () => {
      const project = randomUUID();
      const [stored, meanwhile] = [identityOf(project), identityOf(project)];
      await writeBefore([stored]);
      const saved = new IdentityFilter({ filter: new GrowingFilter(FILTER_SIZES), filledAtMs: Date.now() });
      saved.add(stored);
      const reading = Promise.withResolvers<IdentityFilter | undefined>();
      const lookedUp: string[] = [];
      const connection: Connection = {
        ...store.lookups,
        query: (sql, params = {}) => {
          lookedUp.push(...(params['event_ids'] as string[]));
          return store.lookups.query(sql, params);
        },
      };
      const index = new IdentityIndex({
        connection,
        background: store.background,
        stream: 'decisions',
        logger: createLogger('silent'),
        now: Date.now,
        takeFilter: () => Promise.resolve({ lacks: undefined, read: () => reading.promise }),
      });
      await index.open();

      index.add([meanwhile]);
      const known = async () => [...(await index.findKnown([stored, meanwhile, identityOf(project)]))];
      expect(await known()).to.have.members([stored, meanwhile]);
      expect(lookedUp).to.have.length(2);

      await index.copied();
      reading.resolve(canBeUsed ? saved : undefined);
      await eventually(() => index.filter?.isComplete);
      lookedUp.length = 0;
      expect(await known()).to.have.members([stored, meanwhile]);
      expect(lookedUp).to.have.members([stored.event_id, meanwhile.event_id]);
      expect(index.filter === saved).to.equal(canBeUsed);
      await index.close();
    });

  it('stops reading it when it is closed, and asks the store for nothing more', async () => {
    const asked: string[] = [];
    const background: Connection = {
      ...store.background,
      query: (sql, params) => {
        asked.push(sql);
        return store.background.query(sql, params);
      },
    };
    const index = new IdentityIndex({
      connection: store.lookups,
      background,
      stream: 'decisions',
      logger: createLogger('silent'),
      now: Date.now,
      takeFilter: () =>
        Promise.resolve({
          lacks: undefined,
          read: (signal) =>
            new Promise((resolve) => signal.addEventListener('abort', () => resolve(undefined))),
        }),
    });
    await index.open();
    await index.close();
    await nextTurn();

    expect([asked, index.filterToSave]).to.deep.equal([[], undefined]);
  });
});
