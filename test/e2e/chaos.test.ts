import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ChaosReport } from '../chaos/run.ts';
import { runCommand } from '../support/processes.ts';
import { temporaryDirectory } from '../support/service.ts';

/** One for each of the three. */
const CYCLES = 3;

describe('make chaos', () => {
  it(`${CYCLES} cycles of kill -9 of a service or the store: every id that got 202 is there, each once`, async function () {
    // Each cycle stops two services or the store and checks everything that was written.
    this.timeout(300_000);
    const path = join(temporaryDirectory(), 'report.json');
    const args = ['test/chaos/main.ts', '--cycles', String(CYCLES), '--seed', '7', '--report', path];
    const { code, output } = await runCommand(process.execPath, args);

    expect(code, output).to.equal(0);
    const report = JSON.parse(readFileSync(path, 'utf8')) as ChaosReport;
    expect([report.lost, report.doubled, report.invented, report.altered]).to.deep.equal([[], [], [], []]);
    expect(report.acknowledged).to.be.above(100);
    expect(report.answers['500']).to.equal(undefined);
    expect(report.slowest_answer_ms).to.be.below(6000);
  });
});
