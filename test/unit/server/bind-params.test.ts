import { expect } from 'chai';
import { withParamsSet } from '../../../server/store/bind-params.ts';
import { inEngine } from '../../support/in-engine.ts';

/** Everything that could end a literal, a field or a statement. */
const WILD = [
  "it's \\ tab\t newline\n return\r nul\0 é🤖",
  "'; DROP TABLE decisions; --",
  "\\'; DROP TABLE decisions; --",
  "\\\\'",
  '\\N',
  "['a', 'b']",
  '{other: String}',
  '\b\f\v\x07',
  '',
];

describe('parameters of a statement on the embedded engine', () => {
  it('come back as they were given, whatever they hold: as String, Nullable(String) and in an Array(String)', async () => {
    const answers = await inEngine<{ s: string; n: string; a: string[] }[]>(
      `const connection = open();
       const answers = [];
       for (const wild of input) {
         const [row] = await connection.query(
           'SELECT {s: String} AS s, {n: Nullable(String)} AS n, {a: Array(String)} AS a', { s: wild, n: wild, a: [wild, ...input] });
         answers.push(row);
       }
       return answers;`,
      WILD,
    );

    expect(answers).to.deep.equal(WILD.map((wild) => ({ s: wild, n: wild, a: [wild, ...WILD] })));
  });

  it('keep null and numbers', async () => {
    const [row] = await inEngine<object[]>(
      `return open().query('SELECT {n: Nullable(String)} AS n, {i: UInt32} AS i', { n: null, i: 7 });`,
      null,
    );

    expect(row).to.deep.equal({ n: null, i: 7 });
  });

  it('belong to their connection: a slow statement with parameters holds up no other connection', async () => {
    const order = await inEngine<string[]>(
      `const order = [];
       const slow = open().query('SELECT sleepEachRow({s: Float64}) FROM numbers(2)', { s: 0.5 }).then(() => order.push('slow'));
       const quick = open();
       for (const name of input) order.push((await quick.query('SELECT {name: String} AS name', { name }))[0].name);
       await slow;
       return order;`,
      ['a', 'b', 'c'],
    );

    expect(order).to.deep.equal(['a', 'b', 'c', 'slow']);
  });

  it('leave the statement as it is in its file', () => {
    expect(withParamsSet('SELECT {a: String}', { a: "x'y" })).to.equal(
      "SET param_a = 'x\\'y'; SELECT {a: String}",
    );
    expect(withParamsSet('SELECT 1', {})).to.equal('SELECT 1');
  });
});
