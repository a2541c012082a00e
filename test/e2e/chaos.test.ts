import { expect } from 'chai';
import { runChaos } from '../chaos/run.ts';

const CYCLES = 5;

describe('chaos', () => {
  it(`${CYCLES} cycles of kill -9 of a service or the store: every id that got 202 is there, each once`, async () => {
    const report = await runChaos({ cycles: CYCLES, seed: 7 });

    expect([report.lost, report.doubled, report.invented, report.altered]).to.deep.equal([[], [], [], []]);
    expect(report.acknowledged).to.be.above(200);
    expect(report.answers['500']).to.equal(undefined);
    expect(report.slowest_answer_ms).to.be.below(6000);
  });
});
