import { expect } from 'chai';
import { inProcess } from '../support/in-process.ts';
import { storeDirectory } from '../support/service.ts';

const SEED = Number(process.env['GATE_TEST_SEED'] ?? Math.floor(Math.random() * 1_000_000));

type Result = { differences: object[]; gaps: number };

describe('what did not arrive', () => {
  it('is what a plain model says, after random histories of drops, losses, late events, repeats, closes and merges', async function () {
    this.timeout(180_000);
    const dataDir = await storeDirectory();
    const module = new URL('ledger/compare.ts', import.meta.url);
    const result = await inProcess<Result>(module, 'compare', { dataDir, seed: SEED, histories: 2 });

    expect(result.differences.slice(0, 1), `GATE_TEST_SEED=${SEED}`).to.deep.equal([]);
    expect(result.gaps).to.be.above(0);
  });

  it('does not grow when the first records of a sender expire', async () => {
    const module = new URL('ledger/compare.ts', import.meta.url);
    const missing = await inProcess(module, 'missingAfterExpiry', { dataDir: await storeDirectory() });

    // As long as the rows are there; when they are gone; without what is kept of their sender.
    expect(missing).to.deep.equal([1, 1, 4]);
  });
});
