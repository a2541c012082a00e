import { expect } from 'chai';
import { runChaos } from '../chaos/run.ts';

const CYCLES = 5;

describe('chaos', () => {
  it(`${CYCLES} cycles of kill -9 of a service or the store: every id that got 202 is there, each once`, async function () {
    // Each cycle stops two services or the store and checks everything that was written.
    this.timeout(180_000);
    const report = await runChaos({ cycles: CYCLES, seed: 7 });

    expect([report.lost, report.doubled, report.invented, report.altered]).to.deep.equal([[], [], [], []]);
    expect(report.acknowledged).to.be.above(200);
    expect(report.answers['500']).to.equal(undefined);
    expect(report.slowest_answer_ms).to.be.below(6000);
  });
});
