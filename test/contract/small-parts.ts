import { expect } from 'chai';
import type { Store } from '../../server/store/store.ts';
import { clickhouseTime } from '../../server/store/time.ts';
import { eventually } from '../support/eventually.ts';

const SMALL_PARTS = 31;

/** What the engine merges while single events arrive. */
export function smallPartsSuite(store: () => Store): void {
  for (const table of ['decisions', 'llm_invocations'])
    it(`small parts of ${table} are merged with each other, and not with the records of the day`, async () => {
      const { background } = store();
      const occurred_at = clickhouseTime(Date.now());
      const copy = `small_parts_of_${table}`;
      await background.command(`CREATE TABLE ${copy} AS ${table}`);
      const insert = (rows: number) =>
        background.command(
          `INSERT INTO ${copy} (project_id, event_id, occurred_at) SELECT 'p', generateUUIDv4(), {occurred_at: DateTime64(3)} FROM numbers({rows: UInt32})`,
          { rows, occurred_at },
        );
      const parts = () =>
        background.query<{ name: string }>(
          'SELECT name FROM system.parts WHERE database = currentDatabase() AND table = {copy: String} AND active ORDER BY rows DESC',
          { copy },
        );
      await background.command(`SYSTEM STOP MERGES ${copy}`);
      await insert(100_000);
      const [day] = await parts();
      for (let small = 0; small < SMALL_PARTS; small += 1) await insert(1);
      await background.command(`SYSTEM START MERGES ${copy}`);
      await eventually(async () => (await parts()).length <= SMALL_PARTS);
      const names = (await parts()).map(({ name }) => name);
      await background.command(`DROP TABLE ${copy}`);

      expect(names).to.include(day?.name);
    });
}
