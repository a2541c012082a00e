import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { runCommand } from '../support/processes.ts';
import { type Outcome, runTamper } from '../tamper/run.ts';

/** More than a full tile. */
const RECORDS = 300;

describe('tampering with a store and its log', function () {
  this.timeout(240_000);
  let outcomes: Outcome[];
  before('attack', async () => void (outcomes = await runTamper({ records: RECORDS })));

  it('is found by both verifiers, each attack with its exit code', () => {
    const codes = outcomes.map(({ attack, ours, python }) => [attack, ours.code, python.code]);

    expect(codes).to.deep.equal(outcomes.map(({ attack, expected }) => [attack, expected, expected]));
  });

  it('is described in the same way by both', () => {
    expect(outcomes.map(({ ours }) => ours)).to.deep.equal(outcomes.map(({ python }) => python));
  });

  it('is counted', () => {
    const found = Object.fromEntries(outcomes.map(({ attack, ours }) => [attack, ours.found]));

    expect(found).to.include({
      nothing: '',
      'flip one byte of one row': '1 altered',
      'swap the reasons of two rows': '2 altered',
      'change a salt': '1 altered',
      'delete one row': '1 missing',
      'insert one row': '1 added',
      'insert one row of a time to come': '1 added',
      'flip one, delete one, insert one': '1 altered, 1 missing, 1 added',
    });
  });
});

describe('make tamper', () => {
  it('says in one line how many records it needs at least', async () => {
    const script = fileURLToPath(new URL('../tamper/main.ts', import.meta.url));
    const { code, stderr } = await runCommand(process.execPath, [script, '--records', '2000']);

    expect([code, stderr]).to.deep.equal([1, '--records must be at least 4200, not 2000\n']);
  });
});
