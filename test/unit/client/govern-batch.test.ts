import { expect } from 'chai';
import { startAgentWorld, type Call } from '../../support/agent-world.ts';
import { batchesOf, DECISION_BATCH } from '../../support/emission.ts';
import { forEachTest } from '../../support/for-each-test.ts';
import { shutdown } from '../../../client/index.ts';

describe('govern with batch', () => {
  const world = forEachTest(startAgentWorld);
  const callsOf = (count: number): Call[] =>
    Array.from({ length: count }, (_, index) => ['search', { index }]);
  const recorded = async (): Promise<number> => {
    await shutdown();
    return batchesOf(world.mock, DECISION_BATCH).flat().length;
  };
  beforeEach(() => world.mock.on(DECISION_BATCH, { status: 202 }));

  it('records all of 200 awaited calls of an instant tool in one run', async () => {
    await (await world.governed({ batch: true })).run(callsOf(200));

    expect(await recorded()).to.equal(200);
    expect(world.logger.at('warn')).to.deep.equal([]);
  });

  it('records all of 100 concurrent runs of 5 calls', async () => {
    const governed = await world.governed({ batch: true });
    await Promise.all(Array.from({ length: 100 }, () => governed.run(callsOf(5))));

    expect(await recorded()).to.equal(500);
  });
});
