import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { readWindow } from '../../../server/audit/read-window.ts';
import { History } from './history.ts';
import { Model, type ModelRecord } from './model.ts';
import { Random } from './random.ts';
import { askSummary, openWorld, type World } from './world.ts';

// One life of the process: what earlier lives wrote must read as it did, then new histories begin.
// Arguments: data directory, seed, number of the first history, how many.

const [dataDir = '', seedText, firstText, countText] = process.argv.slice(2);
const [seed, first, count] = [Number(seedText), Number(firstText), Number(countText)];
const PAST = join(dataDir, 'past.json');

type Past = { projectId: string; records: ModelRecord[] }[];

async function checkPast(world: World, past: Past): Promise<void> {
  const window = readWindow('30d', Date.now());
  for (const { projectId, records } of past) {
    const model = new Model();
    for (const record of records) model.write(record);
    const summary = await askSummary(world, { projectId, window });
    if (!isDeepStrictEqual(summary, model.summary(window)))
      throw new Error(`After a restart ${projectId} reads ${JSON.stringify(summary)}`);
  }
}

async function live(): Promise<void> {
  const world = await openWorld(dataDir);
  const past = first === 0 ? [] : (JSON.parse(readFileSync(PAST, 'utf8')) as Past);
  await checkPast(world, past);
  let asked = 0;
  for (let number = first; number < first + count; number += 1) {
    const random = new Random(seed * 1000 + number);
    // Ahead of the engine's clock, which must not drop what is not expired yet.
    const nowMs = Date.now() + random.below(3_600_000);
    const history = new History(world, { projectId: `p-${number}`, random, nowMs });
    asked += await history.run().catch((error: unknown) => {
      throw new Error(`History ${number} of seed ${seed}`, { cause: error });
    });
    past.push({ projectId: history.projectId, records: [...history.model.records.values()] });
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
