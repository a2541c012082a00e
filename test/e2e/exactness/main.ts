import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { NO_FILTERS } from '../../../server/records/filters.ts';
import { readWindow, WINDOW_NAMES, type WindowName } from '../../../server/records/window.ts';
import { Random } from '../../support/random.ts';
import { History } from './history.ts';
import { Model, type ModelRecord } from './model.ts';
import { askBuckets, askIds, askSummary, openWorld, type World } from './world.ts';

// One life of the process: the data of earlier lives must read as before, then new histories begin. Arguments: data directory, seed, number
// of the first history, how many.

const [dataDir = '', seedText, firstText, countText] = process.argv.slice(2);
const [seed, first, count] = [Number(seedText), Number(firstText), Number(countText)];
const PAST = join(dataDir, 'past.json');

type Past = { projectId: string; windowName: WindowName; records: ModelRecord[] }[];

async function checkPast(world: World, past: Past): Promise<void> {
  const nowMs = Date.now();
  for (const [index, { projectId, windowName, records }] of past.entries()) {
    const model = new Model();
    for (const record of records) model.write(record);
    // The window whose edges its events crowd around, and one of all.
    const other = WINDOW_NAMES[index % WINDOW_NAMES.length] ?? windowName;
    for (const name of new Set([windowName, other])) {
      const window = readWindow(name, nowMs);
      const filters = NO_FILTERS;
      const asked = { projectId, window, filters };
      const ids = model.ids(window, filters);
      const list = await askIds(world, { ...asked, limit: 1000, by: 'cursor' });
      const answers = [await askSummary(world, asked), await askBuckets(world, asked), list];
      const expected = [
        model.summary(window, filters),
        model.buckets(window, filters),
        { total: ids.length, ids },
      ];
      if (!isDeepStrictEqual(answers, expected))
        throw new Error(`After a restart ${projectId} reads over ${name}\n${JSON.stringify(answers)}`);
    }
  }
}

async function live(): Promise<void> {
  const world = await openWorld(dataDir);
  const past = first === 0 ? [] : (JSON.parse(readFileSync(PAST, 'utf8')) as Past);
  await checkPast(world, past);
  let asked = 0;
  for (let number = first; number < first + count; number += 1) {
    const random = new Random(seed * 1000 + number);
    // Ahead of the engine's clock, which must not drop unexpired rows.
    const nowMs = Date.now() + random.below(3_600_000);
    const history = new History(world, { projectId: `p-${number}`, random, nowMs });
    asked += await history.run().catch((error: unknown) => {
      throw new Error(`History ${number} of seed ${seed}`, { cause: error });
    });
    past.push({
      projectId: history.projectId,
      windowName: history.windowName,
      records: [...history.model.records.values()],
    });
  }
  writeFileSync(PAST, JSON.stringify(past));
  await world.close();
  console.log(JSON.stringify({ histories: count, asked }));
}

live().then(
  () => process.exit(0),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
