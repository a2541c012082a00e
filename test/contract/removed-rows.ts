import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import { readMigrations, sql } from '../../server/store/sql.ts';
import type { Store } from '../../server/store/store.ts';
import { eventually } from '../support/eventually.ts';
import { DAY_MS } from '../../server/durations.ts';

type Projection = { name: string; type: 'Aggregate' | 'Normal'; query: string; sorting_key: string[] };
type EventRow = { event_id: string; version: string };
type Table = keyof typeof PROJECTIONS;

/** More than two granules of rows, so that the engine prefers a projection. */
const ROWS = 6000;
const REMOVED = 500;
const PROJECTIONS = {
  decisions: ['by_emitter', 'by_user', 'counts_by_day', 'counts_by_hour', 'series'],
  llm_invocations: ['by_emitter', 'usage_by_hour'],
};

const INSERT = `INSERT INTO {table: Identifier} (project_id, event_id, occurred_at, agent_name, user_id, version)
  SELECT {project_id: String}, generateUUIDv4(), toDateTime64({day: Date}, 3, 'UTC') + number,
    concat('agent-', toString(number % 3)), concat('user-', toString(number % 4)), 1
  FROM numbers({count: UInt32})`;

/** Removes rows and reads what is left through every projection. */
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

  it('rows that an earlier version removed by a lightweight DELETE disappear by migration 24', async () => {
    const { background } = store();
    const project = await createProject(store(), 'decisions');
    await project.merge();
    await background.command(
      "ALTER TABLE decisions MODIFY SETTING lightweight_mutation_projection_mode = 'rebuild'",
    );
    await project.remove('DELETE FROM decisions WHERE event_id IN {event_ids: Array(UUID)}');

    const statements = readMigrations().find(({ version }) => version === 24)?.statements ?? [];
    for (const statement of statements) await background.command(statement);
    await eventually(async () => {
      const running = 'SELECT 1 FROM system.mutations WHERE database = currentDatabase() AND NOT is_done';
      return (await background.query(running)).length === 0;
    });

    await project.expectRows('after the migration');
    const lightweight = project.remove('DELETE FROM decisions WHERE event_id IN {event_ids: Array(UUID)}');
    expect(await lightweight.catch(String)).to.include('The store did not answer');
  });
}

let daysAgo = 0;

/** A project with rows in one part, alone on its day: parts with and without projections are never merged into one. */
async function createProject({ background, lookups }: Store, table: Table) {
  daysAgo += 1;
  const day = new Date(Date.now() - daysAgo * DAY_MS).toISOString().slice(0, 10);
  const params = { table, project_id: randomUUID(), day };
  const merge = () => background.command(sql('day_merge'), { table, day });
  const projections = await lookups.query<Projection>(
    `SELECT name, type, query, sorting_key FROM system.projections
     WHERE database = currentDatabase() AND table = {table: String} ORDER BY name`,
    { table },
  );
  expect(projections.map(({ name }) => name)).to.deep.equal(PROJECTIONS[table]);
  await background.command(INSERT, { ...params, count: ROWS });

  const remove = async (statement: string) => {
    const rows = await lookups.query<EventRow>(
      `SELECT toString(event_id) AS event_id, toString(version) AS version FROM {table: Identifier}
       WHERE project_id = {project_id: String} AND user_id = 'user-1' ORDER BY occurred_at LIMIT {count: UInt32}`,
      { ...params, count: REMOVED },
    );
    await background.command(statement, {
      table,
      day,
      project_ids: rows.map(() => params.project_id),
      event_ids: rows.map(({ event_id }) => event_id),
      versions: rows.map(({ version }) => version),
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

  const expectRows = async (when: string) => {
    const [left] = await lookups.query<{ n: string }>(
      `SELECT count() AS n FROM {table: Identifier} WHERE project_id = {project_id: String}
       SETTINGS optimize_use_projections = 0`,
      params,
    );
    expect(Number(left?.n), when).to.equal(ROWS - REMOVED);
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
  return { remove, merge, expectRows };
}
