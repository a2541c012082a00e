import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import { createCommits } from '../../server/commit/create-commits.ts';
import { fillIdentities } from '../../server/commit/fill-identities.ts';
import { readConfig } from '../../server/config.ts';
import { DECISION_COLUMNS } from '../../server/ingest/decision-event.ts';
import { LLM_COLUMNS } from '../../server/ingest/llm-invocation.ts';
import { createMetrics } from '../../server/metrics.ts';
import { GroupCommit } from '../../server/commit/group-commit.ts';
import { IdentityConflicts } from '../../server/commit/identity-conflicts.ts';
import { IdentityIndex } from '../../server/commit/identity-index.ts';
import type { RequestError } from '../../server/errors.ts';
import { createLogger } from '../../server/logger.ts';
import { readMigrations, sql } from '../../server/store/sql.ts';
import type { Store } from '../../server/store/store.ts';
import { HOUR_MS } from '../../server/durations.ts';
import { RETENTION_MS } from '../../server/limits.ts';
import { clickhouseTime } from '../../server/store/time.ts';
import { eventually } from '../support/eventually.ts';
import { entryOf } from '../support/rows.ts';
import { logImportSuite } from './log-import.ts';
import { logPiecesSuite } from './log-pieces.ts';
import { logTakeoverSuite } from './log-takeover.ts';
import { optionalConditionsSuite } from './optional-conditions.ts';
import { removedRowsSuite } from './removed-rows.ts';
import { smallPartsSuite } from './small-parts.ts';

const AWKWARD = [
  '',
  "it's",
  '"',
  '\\',
  '\\N',
  'a\tb\nc\rd',
  '{x: String}',
  '; DROP TABLE decisions',
  'ünïcödé 🚪',
  '[1]',
];
/** More identities than one statement may ask for. */
const MANY = 5000;

const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => 'done',
    (error: RequestError) => error.code,
  );

/** The contract of every store, whatever implements it. Run once for each connection. */
export function storeSuite(
  name: string,
  open: () => Promise<{ store: Store; close: () => Promise<void> }>,
): void {
  describe(`the store, ${name}`, () => {
    let store: Store;
    let close: () => Promise<void>;
    before(async () => {
      ({ store, close } = await open());
      // Creating the whole schema may take longer on a slow machine than a caller would wait.
      await eventually(() =>
        store.ready().then(
          () => true,
          () => undefined,
        ),
      );
    });
    after(() => close());

    it('has every migration once, and is ready again at once', async () => {
      const rows = await store.lookups.query<{ version: number }>(
        'SELECT version FROM schema_migrations ORDER BY version',
      );

      await store.ready();

      expect(rows.map(({ version }) => version)).to.deep.equal(
        readMigrations().map(({ version }) => version),
      );
      expect(await store.isUp()).to.equal(true);
    });

    it('writes every table through to the disk, and merged parts as well', async () => {
      // All but the list of migrations, whose statements may run again.
      const tables = await store.lookups.query<{ name: string; engine_full: string }>(
        "SELECT name, engine_full FROM system.tables WHERE database = currentDatabase() AND engine LIKE '%MergeTree' AND name != 'schema_migrations'",
      );

      const missing = tables.flatMap(({ name, engine_full }) =>
        ['fsync_after_insert', 'fsync_part_directory', 'min_rows_to_fsync_after_merge']
          .filter((setting) => !engine_full.includes(`${setting} = 1`))
          .map((setting) => `${name} ${setting}`),
      );
      expect(tables.map(({ name }) => name)).to.include.members(['decisions', 'llm_invocations', 'api_keys']);
      expect(missing).to.deep.equal([]);
    });

    it('passes parameters to a statement unchanged', async () => {
      for (const text of AWKWARD) {
        const params = { text, none: null, list: AWKWARD, number: 42 };
        const sql =
          'SELECT {text: String} AS text, {none: Nullable(String)} AS none, {list: Array(String)} AS list, {number: UInt32} AS number';
        expect(await store.lookups.query(sql, params)).to.deep.equal([params]);
      }
    });

    it('keeps the texts of a row unchanged', async () => {
      const project_id = randomUUID();
      for (const reason of AWKWARD) await insert([entryOf(project_id, { reason }).line]);

      const rows = await store.lookups.query<{ reason: string }>(
        'SELECT reason FROM decisions WHERE project_id = {project_id: String}',
        { project_id },
      );

      expect(rows.map(({ reason }) => reason).sort()).to.deep.equal(AWKWARD.toSorted());
    });

    it('answers bytes in the format that a statement names', async () => {
      const bytes = await store.lookups.queryBytes(
        'SELECT toUInt32(number) FROM numbers(3) FORMAT RowBinary',
      );

      expect([...bytes]).to.deep.equal([0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0]);
    });

    it('refuses a row that it cannot store as row_rejected, and stores none of its insert', async () => {
      const project_id = randomUUID();
      const good = entryOf(project_id).line;
      const bad = good.replace(/,\d{13},/, ',"never",');

      expect(await codeOf(insert([good, bad]))).to.equal('row_rejected');
      expect(await countOf(project_id)).to.equal(0);
    });

    it('reports a failed statement, also one with a bad parameter, as store_unavailable, and a slow one as overloaded', async () => {
      const slow =
        'SELECT sleepEachRow(0.1) FROM numbers(100) SETTINGS max_execution_time = 0.3, max_block_size = 1';

      expect(await codeOf(store.lookups.query('SELECT * FROM no_such_table'))).to.equal('store_unavailable');
      expect(await codeOf(store.reads.query('SELECT toUUID({id: String})', { id: 'x' }))).to.equal(
        'store_unavailable',
      );
      expect(await codeOf(store.lookups.query(slow))).to.equal('overloaded');
    });

    it('runs more reads than it has connections for', async () => {
      const reads = Array.from({ length: 12 }, (_, n) =>
        store.reads.query<{ n: number }>('SELECT {n: UInt32} AS n', { n }),
      );

      expect((await Promise.all(reads)).flat().map(({ n }) => n)).to.deep.equal(reads.map((_, n) => n));
    });

    for (const table of ['decisions', 'llm_invocations', 'event_identities']) {
      it(`drops the rows of ${table} after 90 days, and none before`, async () => {
        const project_id = randomUUID();
        const ages =
          'SELECT DISTINCT toInt32(dateDiff(day, occurred_at, now())) AS days FROM {table: Identifier}';
        const params = { table, project_id };
        await store.lookups.command(
          `INSERT INTO {table: Identifier} (project_id, event_id, occurred_at)
           SELECT {project_id: String}, generateUUIDv4(), now() - INTERVAL [0, 89, 91, 200][number + 1] DAY
           FROM numbers(4)`,
          params,
        );

        const left = await eventually(async () => {
          const rows = await store.lookups.query<{ days: number }>(
            `${ages} WHERE project_id = {project_id: String} ORDER BY days`,
            params,
          );
          return rows.length <= 2 ? rows.map(({ days }) => days) : undefined;
        });
        expect(left).to.deep.equal([0, 89]);
      });
    }

    removedRowsSuite(() => store);
    logImportSuite(() => store);
    logPiecesSuite(() => store);
    smallPartsSuite(() => store);
    logTakeoverSuite(() => store);
    optionalConditionsSuite(() => store);

    describe('the role of an account', () => {
      let member: { project_id: string; account_id: string };
      beforeEach(() => (member = { project_id: randomUUID(), account_id: randomUUID() }));
      const ask = async () =>
        (await store.accounts.query<{ role: string }>(sql('project_role'), member))[0]?.role;
      const memberAs = (role: string, version: number) => ({
        ...member,
        is_member: 1,
        role,
        changed_by: '',
        changed_at: '2026-01-01 00:00:00.000',
        version,
      });

      for (const name of ['accounts', 'background'] as const)
        it(`is the new one for requests after a change through ${name}, however many come at the same time`, async () => {
          for (const [version, role] of ['viewer', 'editor', 'viewer', 'admin', 'owner'].entries()) {
            const row = memberAs(role, version);
            const [columns, lines] = [Object.keys(row), [JSON.stringify(Object.values(row))]];
            let isChanged = false;
            const changed = store[name]
              .insert({ table: 'project_members', columns, lines, token: randomUUID() })
              .finally(() => (isChanged = true));
            while (!isChanged) await Promise.all([ask(), ask(), nextTurn()]);
            await changed;
            expect(await ask()).to.equal(role);
          }
        });

      it('is read from the store once if one process has it, otherwise each time', async () => {
        // As another process would write it.
        const write = (role: string, version: number) =>
          store.background.command(
            `INSERT INTO project_members FORMAT JSONEachRow ${JSON.stringify(memberAs(role, version))}`,
          );
        await write('viewer', 0);
        const before = await ask();
        await write('editor', 1);

        expect([before, await ask()]).to.deep.equal([
          'viewer',
          store.kind === 'embedded' ? 'viewer' : 'editor',
        ]);
      });
    });

    it('fills in only the identities of living records: that of an expired one may be reused', async () => {
      const { background } = store;
      const project_id = randomUUID();
      const nowMs = Date.now();
      const [living, expired] = [randomUUID(), randomUUID()];
      const received = clickhouseTime(nowMs);
      const lines = [
        [living, clickhouseTime(nowMs - RETENTION_MS + HOUR_MS)],
        [expired, clickhouseTime(nowMs - RETENTION_MS - 1)],
      ].map((row) => JSON.stringify([project_id, ...row, received]));
      const columns = ['project_id', 'event_id', 'occurred_at', 'received_at'];
      await background.insert({ table: 'decisions', columns, lines, token: randomUUID() });

      await fillIdentities(background, { stream: 'decisions', copiedMs: nowMs, nowMs });

      const identities = await background.query<{ event_id: string }>(
        'SELECT event_id FROM event_identities WHERE project_id = {project_id: String}',
        { project_id },
      );
      expect(identities).to.deep.equal([{ event_id: living }]);
    });

    it('a slow read delays no write', async () => {
      const project_id = randomUUID();
      const slow = store.reads.query(
        'SELECT sum(sleepEachRow(0.1)) FROM numbers(15) SETTINGS max_block_size = 1',
      );
      const startMs = performance.now();

      await insert([entryOf(project_id).line]);
      const tookMs = performance.now() - startMs;
      await slow;

      expect(tookMs).to.be.below(1000);
    });

    it(`${MANY} concurrent writes become one record each, also when they are repeated`, async () => {
      const project_id = randomUUID();
      const entries = Array.from({ length: MANY }, () => entryOf(project_id));
      for (const wanted of ['accepted', 'duplicate'] as const) {
        // A new one each time, like a process that has just started: all its knowledge comes from the store.
        const { commit, end } = createCommit();
        const results = await Promise.all(entries.map((entry) => commit.write(entry)));
        await end();
        expect(results.filter((result) => result !== wanted)).to.deep.equal([]);
        expect(await countOf(project_id)).to.equal(MANY);
      }
    });

    it('reports when its identity filters are complete, and that a shared store has none', async () => {
      const commits = createCommits(store, {
        config: readConfig({}),
        columns: { decisions: DECISION_COLUMNS, llm_invocations: LLM_COLUMNS },
        metrics: createMetrics({ isStoreUp: store.isUp }),
        logger: createLogger('silent'),
        now: Date.now,
      });
      const both = (isComplete: boolean) =>
        store.kind === 'embedded' ? { decisions: isComplete, llm_invocations: isComplete } : undefined;
      expect(commits.identityFilters()).to.deep.equal(both(false));

      await commits.opened();
      await eventually(() => Object.values(commits.identityFilters() ?? {}).every(Boolean));
      expect(commits.identityFilters()).to.deep.equal(both(true));
      await commits.close();
    });

    const insert = (lines: string[]) =>
      store.writer.insert({ table: 'decisions', columns: DECISION_COLUMNS, lines, token: randomUUID() });

    async function countOf(project_id: string): Promise<number> {
      const sql = 'SELECT toUInt32(count()) AS n FROM decisions WHERE project_id = {project_id: String}';
      const [row] = await store.lookups.query<{ n: number }>(sql, { project_id });
      return row?.n ?? 0;
    }

    function createCommit() {
      const logger = createLogger('silent');
      const stream = 'decisions' as const;
      const { background, engines, lookups } = store;
      const conflicts =
        store.kind === 'embedded'
          ? undefined
          : new IdentityConflicts({ connection: background, engines, stream, logger, now: Date.now });
      const identities = new IdentityIndex({
        connection: lookups,
        background,
        stream,
        conflicts,
        logger,
        now: Date.now,
      });
      const commit = new GroupCommit({
        stream,
        columns: DECISION_COLUMNS,
        connection: store.writer,
        identities,
        ready: store.ready,
        batchRowsMax: MANY,
        queueRowsMax: 2 * MANY,
        queueBytesMax: 100_000_000,
        onFlush: () => undefined,
        onQueue: () => undefined,
      });
      const end = async () => {
        await commit.drain();
        await identities.close();
      };
      return { commit, end };
    }
  });
}
