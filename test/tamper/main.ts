// make tamper: attacks a real store and its log, and prints what both verifiers say. ARGS="--records 100000", at least 4200
import { parseArgs } from 'node:util';
import { FILE_ATTACKS, STORE_ATTACKS } from './attacks.ts';
import { runTamper } from './run.ts';

const { values } = parseArgs({ options: { records: { type: 'string', default: '100000' } } });
const records = Math.ceil(Number(values.records) / (STORE_ATTACKS.length + 2));
// The attacks on tiles need a full one.
const RECORDS_MIN = 300;
if (!(records >= RECORDS_MIN)) {
  console.error(
    `--records must be at least ${RECORDS_MIN * (STORE_ATTACKS.length + 2)}, not ${values.records}`,
  );
  process.exit(1);
}
const onAttack = (attack: string) => process.stderr.write(`${attack} …\n`);

const outcomes = await runTamper({ records, onAttack });
console.log(
  `\n${STORE_ATTACKS.length + 2} projects of ${records} records; ${FILE_ATTACKS.length} attacks on the files of an auditor\n`,
);
console.log('| attack | gate audit verify | | docs/verify.py | |\n|:--|:--|--:|:--|--:|');
let isAsExpected = true;
for (const { attack, expected, ours, python } of outcomes) {
  const words = ({ verdict, found }: typeof ours) =>
    [verdict.replaceAll('_', ' '), found].filter(Boolean).join(': ');
  console.log(`| ${attack} | ${words(ours)} | ${ours.code} | ${words(python)} | ${python.code} |`);
  isAsExpected &&= [ours, python].every(({ code, found }) => code === expected && found === ours.found);
}
console.log(isAsExpected ? '\nBoth verifiers say what they should.' : '\nA verdict is not as it should be.');
process.exit(isAsExpected ? 0 : 1);
