import { expect } from 'chai';
import { runOnStore } from '../support/engine.ts';
import { inProcess } from '../support/in-process.ts';
import { Random } from '../support/random.ts';
import { storeDirectory } from '../support/service.ts';
import type { Answers, Life } from './filter-lives.ts';

/** Foreign writers find the file of a stop: the first of them does not copy the identities, the second one does. */
const LIVES = [
  'stop',
  'stop',
  'foreign',
  'stop',
  'foreign',
  'saved-kill',
  'kill',
  'command',
  'saved-kill',
  'stop',
] as const;
const SEED = 13;

/** A process that was killed has printed its results. */
async function liveOn(life: Life & { taken: string[] }): Promise<Answers> {
  const module = new URL('filter-lives.ts', import.meta.url);
  return inProcess<Answers>(module, 'live', life).catch((error: Error & { stdout?: string }) => {
    if (!life.kind.endsWith('kill')) throw error;
    return JSON.parse(error.stdout ?? '') as Answers;
  });
}

describe('a store in many lives', () => {
  it(`accepts each identity once over ${LIVES.length} lives that stop, are killed, or write without the service (seed ${SEED})`, async function () {
    // Many processes, in addition to the other suites.
    this.timeout(300_000);
    const random = new Random(SEED);
    const dataDir = await storeDirectory();
    const accepted = new Set<string>();
    const wrong: string[] = [];
    const filters: string[] = [];

    for (const [at, kind] of LIVES.entries()) {
      const taken = [...accepted];
      const { results, filter } = await liveOn({ dataDir, seed: random.below(1e9), kind, taken });
      filters.push(filter);
      const before = new Set(taken);
      for (const [id, result] of results) {
        if ((result === 'accepted') === accepted.has(id) || (result === 'accepted' && before.has(id)))
          wrong.push(`life ${at} (${kind}, ${filter}): ${id} ${result}`);
        if (result === 'accepted') accepted.add(id);
      }
    }

    expect(wrong).to.deep.equal([]);
    const [stored] = await runOnStore<{ rows: string; ids: string }>(
      dataDir,
      "SELECT toString(count()) AS rows, toString(uniqExact(event_id)) AS ids FROM decisions WHERE project_id = 'project'",
    );
    expect(stored).to.deep.equal({ rows: String(accepted.size), ids: String(accepted.size) });
    // Each way occurred.
    for (const way of ['is used', 'with what came since', 'is not used', 'is filled'])
      expect(filters.filter((filter) => filter.includes(way)).length, way).to.be.above(0);
  });
});
