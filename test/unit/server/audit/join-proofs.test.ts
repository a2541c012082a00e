import { expect } from 'chai';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { joinProofs } from '../../../../server/cli/audit/join-proofs.ts';
import { History, type Logged } from '../../../support/proof-vectors/history.ts';
import { Random } from '../../../support/random.ts';
import { temporaryDirectory } from '../../../support/service.ts';

/** More than two chunks of a file. */
const records = new History(9).young(6000);

/** The ids of records with the indexes of their proofs. */
function joined(lines: Logged[], proofs: [Logged, number | null][]): Map<string, number | null | undefined> {
  const directory = temporaryDirectory();
  const [exported, proven] = [join(directory, 'export'), join(directory, 'proofs')];
  writeFileSync(exported, lines.map(({ line }) => `${line}\n`).join(''));
  const proofLine = ([{ event_id }, index]: [Logged, number | null]) =>
    `${JSON.stringify({ event_id, index, salt: '' })}\n`;
  writeFileSync(proven, proofs.map(proofLine).join(''));
  const items = [...joinProofs(exported, proven)];
  return new Map(items.map(({ fields, proof }) => [fields?.event_id ?? '', proof?.index]));
}

describe('joinProofs', () => {
  const proofs = records.map((record, index): [Logged, number] => [record, index]);
  const whole = new Map(records.map(({ event_id }, index) => [event_id, index]));

  it('gives each record its proof', () => {
    expect(joined(records, proofs)).to.deep.equal(whole);
  });

  it('gives each record its proof in any order', () => {
    const random = new Random(3);
    const shuffled = proofs
      .map((proof) => ({ proof, at: random.real() }))
      .toSorted((a, b) => a.at - b.at)
      .map(({ proof }) => proof);

    expect(joined(records, shuffled)).to.deep.equal(whole);
  });

  it('leaves out proofs without a record, and keeps records without a proof', () => {
    const withoutRecord = records.filter((_, index) => index !== 10);
    const withoutProof = proofs.filter(([, index]) => index !== 20);

    const found = joined(withoutRecord, withoutProof);

    expect(found.size).to.equal(records.length - 1);
    expect([...found].filter(([id, index]) => whole.get(id) !== index)).to.deep.equal([
      [records[20]?.event_id, undefined],
    ]);
  });
});
