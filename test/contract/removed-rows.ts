import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import type { ReadScope } from '../../server/records/counts.ts';
import { type AuditReads, createReads } from '../../server/records/days.ts';
import { readDecisions } from '../../server/records/decisions.ts';
import { exportBytes } from '../../server/records/export-decisions.ts';
import { NO_FILTERS } from '../../server/records/filters.ts';
import { readRange } from '../../server/records/window.ts';
import { readMigrations, sql } from '../../server/store/sql.ts';
import type { RunRead, RunReadBytes } from '../../server/store/read-pool.ts';
import type { Store } from '../../server/store/store.ts';
import { eventually } from '../support/eventually.ts';
import { DAY_MS } from '../../server/durations.ts';

type Projection = { name: string; type: 'Aggregate' | 'Normal'; query: string; sorting_key: string[] };
type EventRow = { event_id: string; version: string };
type Table = keyof typeof PROJECTIONS;

/** More than two granules of rows, so that the engine prefers a projection. */
const ROWS = 6000;
const REMOVED = 500;
/** The first page of an export. */
const PAGE_ROWS = 1000;
const PROJECTIONS = {
  decisions: ['by_emitter', 'by_user', 'counts_by_day', 'counts_by_hour', 'series'],
  llm_invocations: ['by_emitter', 'usage_by_hour'],
};

const INSERT = `INSERT INTO {table: Identifier} (project_id, event_id, occurred_at, agent_name, user_id, version)
  SELECT {project_id: String}, generateUUIDv4(), toDateTime64({day: Date}, 3, 'UTC') + number,
    concat('agent-', toString(number % 3)), concat('user-', toString(number % 4)), 1
  FROM numbers({count: UInt32})`;

/** Removes rows and reads the remaining ones through every projection. */
export function removedRowsSuite(store: () => Store): void {
  for (const table of ['decisions', 'llm_invocations'] as const) {
    it(`rows removed from ${table} show through no projection, before and after merges`, async () => {
      const merged = await createProject(store(), table);
      await merged.merge();
      await merged.remove(sql('events_remove'));
      await merged.expectRows('removed after a merge');
      await merged.merge();
      await merged.expectRows('merged again');

      const fresh = await createProject(store(), table);
      await fresh.remove(sql('events_remove'));
      await fresh.merge();
      await fresh.expectRows('removed before a merge');
    });
  }

  it('a removal leaves the last row of an identity: the one that won may be gone', async () => {
    const project = await createProject(store(), 'decisions');
    await project.merge();
    await project.remove(sql('events_remove'), REMOVED - 1);

    await project.expectRows('removed', REMOVED - 1);
  });

  it('a page is filled from older days when some of its records are removed after they were counted', async () => {
    const { items, next_cursor } = JSON.parse(
      await readDuringRemoval(store(), (reads, scope) =>
        // As many as the newer day had, including the row that shows whether there is a next page.
        readDecisions(reads, scope, { limit: PAGE_ROWS - 1, offset: 0, cursor: undefined }),
      ),
    ) as { items: unknown[]; next_cursor: string | null };

    expect(items).to.have.lengthOf(PAGE_ROWS - 1);
    expect(next_cursor).to.be.a('string');
  });

  it('an export has the records of older days when newer ones are removed after they were counted', async () => {
    const lines = await readDuringRemoval(store(), async (reads, scope) => {
      let text = '';
      for await (const bytes of exportBytes(reads, scope, 'ndjson')) text += bytes.toString();
      return text.trimEnd().split('\n');
    });

    expect(new Set(lines).size).to.equal(lines.length);
    expect(lines).to.have.lengthOf(2 * PAGE_ROWS - PAGE_ROWS / 4);
  });

  it('rows that an earlier version removed by a lightweight DELETE disappear by migration 24', async () => {
    const { background } = store();
    const project = await createProject(store(), 'decisions');
    await project.merge();
    await background.command(
      "ALTER TABLE decisions MODIFY SETTING lightweight_mutation_projection_mode = 'rebuild'",
    );
    await project.remove('DELETE FROM decisions WHERE event_id IN {event_ids: Array(UUID)}');

    for (const statement of statementsOf(24)) await background.command(statement);
    await partsAreDone(store());

    await project.expectRows('after the migration');
    const lightweight = project.remove('DELETE FROM decisions WHERE event_id IN {event_ids: Array(UUID)}');
    expect(await lightweight.catch(String)).to.include('The store did not answer');
  });

  it('a start does not wait until migrations have processed all parts, and the projections are those of a new store', async () => {
    const { background } = store();
    const project = await createProject(store(), 'decisions');
    await project.merge();
    const former = statementsOf(10).filter((statement) =>
      /PROJECTION IF NOT EXISTS by_(day|hour)/.test(statement),
    );
    for (const statement of former) await background.command(statement);

    await background.command('SYSTEM STOP MERGES decisions');
    try {
      for (const statement of [24, 33].flatMap(statementsOf)) await background.command(statement);
    } finally {
      await background.command('SYSTEM START MERGES decisions');
    }
    await partsAreDone(store());

    await projectionsOf(background, 'decisions');
    await project.remove(sql('events_remove'));
    await project.expectRows('after the migrations');
  });
}

function statementsOf(wanted: number): string[] {
  return readMigrations().find(({ version }) => version === wanted)?.statements ?? [];
}

/** Resolves when all parts are as the last migration requires. */
function partsAreDone({ background }: Store): Promise<unknown> {
  return eventually(async () => {
    const running = 'SELECT 1 FROM system.mutations WHERE database = currentDatabase() AND NOT is_done';
    return (await background.query(running)).length === 0;
  });
}

/**
 * Reads a project of two days, as one of several services. Another service removes a quarter of the newer day once the days are counted.
 */
async function readDuringRemoval<T>(store: Store, read: (reads: AuditReads, scope: ReadScope) => Promise<T>) {
  const projectId = randomUUID();
  // A day in one part is read again when its part changes, so each day has two.
  const options = { project_id: projectId, rows: PAGE_ROWS, parts: 2 };
  const newer = await createProject(store, 'decisions', options);
  const older = await createProject(store, 'decisions', options);
  const removed = Promise.withResolvers<void>();
  let isCounted = false;
  const runRead: RunRead = async (text, params, signal) => {
    // The service reads the most likely day while it counts.
    if (text === sql('decisions_page')) await removed.promise;
    const rows = await store.reads.query<never>(text, params, signal);
    if (text === sql('decisions_over_time') && !isCounted) {
      isCounted = true;
      await newer.remove(sql('events_remove')).then(removed.resolve, removed.reject);
    }
    return rows;
  };
  const runReadBytes: RunReadBytes = (...asked) => store.reads.queryBytes(...asked);
  const reads = createReads({ runRead, runReadBytes, writers: 'several', now: Date.now });
  const range = { from: `${older.day}T00:00:00Z`, to: `${newer.day}T23:59:59Z` };
  const { signal } = new AbortController();
  return read(reads, { projectId, window: readRange(range, Date.now()), filters: NO_FILTERS, signal });
}

/** Those of a table, which must be the ones of a new store. */
async function projectionsOf(lookups: Store['lookups'], table: Table): Promise<Projection[]> {
  const projections = await lookups.query<Projection>(
    `SELECT name, type, query, sorting_key FROM system.projections
     WHERE database = currentDatabase() AND table = {table: String} ORDER BY name`,
    { table },
  );
  expect(projections.map(({ name }) => name)).to.deep.equal(PROJECTIONS[table]);
  return projections;
}

let daysAgo = 0;

/** A project alone on its day, with rows in one part: parts with and without projections are never merged into one. */
async function createProject(
  { background, lookups }: Store,
  table: Table,
  { project_id = randomUUID(), rows = ROWS, parts = 1 } = {},
) {
  daysAgo += 1;
  const day = new Date(Date.now() - daysAgo * DAY_MS).toISOString().slice(0, 10);
  const params = { table, project_id, day };
  const merge = () => background.command(sql('day_merge'), { table, day });
  const projections = await projectionsOf(lookups, table);
  for (let part = 0; part < parts; part += 1)
    await background.command(INSERT, { ...params, count: rows / parts });

  /** Removes some rows, which lost against others that occurred today. */
  const remove = async (statement: string, withWinners = REMOVED) => {
    const rows = await lookups.query<EventRow>(
      `SELECT toString(event_id) AS event_id, toString(version) AS version FROM {table: Identifier}
       WHERE project_id = {project_id: String} AND user_id = 'user-1' ORDER BY occurred_at LIMIT {count: UInt32}`,
      { ...params, count: REMOVED },
    );
    const event_ids = rows.map(({ event_id }) => event_id);
    await background.command(
      `INSERT INTO {table: Identifier} (project_id, event_id, occurred_at, version)
       SELECT {project_id: String}, arrayJoin({event_ids: Array(UUID)}), now64(3), 2`,
      { table, project_id, event_ids: event_ids.slice(0, withWinners) },
    );
    await background.command(statement, {
      table,
      day,
      project_ids: rows.map(() => project_id),
      event_ids,
      versions: rows.map(({ version }) => version),
      days: [new Date().toISOString().slice(0, 10)],
    });
  };

  /** The rows of this project in a projection: those of one user, if it is sorted by user. */
  const readAs = async ({ type, query, sorting_key }: Projection, settings: string): Promise<string[]> => {
    const user = type === 'Normal' ? `AND ${sorting_key[1]} = 'user-1'` : '';
    const from = `FROM {table: Identifier} WHERE project_id = {project_id: String} ${user} `;
    const text = query.replace(/(?=GROUP BY|ORDER BY)/, from);
    const rows = await lookups.query<object>(`${text} SETTINGS ${settings}`, params);
    return rows.map((row) => JSON.stringify(row)).sort();
  };

  const expectRows = async (when: string, removed = REMOVED) => {
    const [left] = await lookups.query<{ n: string }>(
      `SELECT count() AS n FROM {table: Identifier} WHERE project_id = {project_id: String} AND toDate(occurred_at) = {day: Date}
       SETTINGS optimize_use_projections = 0`,
      params,
    );
    expect(Number(left?.n), when).to.equal(ROWS - removed);
    for (const projection of projections) {
      const { name } = projection;
      // The engine refuses the statement when it does not use the projection.
      const forced = `force_optimize_projection_name = '${name}', preferred_optimize_projection_name = '${name}'`;
      const [through, rows] = [
        await readAs(projection, forced),
        await readAs(projection, 'optimize_use_projections = 0'),
      ];
      expect(through, `${name} ${when}`).to.deep.equal(rows);
    }
  };
  return { day, remove, merge, expectRows };
}
