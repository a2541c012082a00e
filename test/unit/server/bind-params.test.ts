import { expect } from 'chai';
import { type QueryParam, withParamsSet } from '../../../server/store/bind-params.ts';
import { inProcess } from '../../support/in-process.ts';
import type { Echo } from './support/engine-calls.ts';

const CALLS = new URL('support/engine-calls.ts', import.meta.url);

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
  it('are returned unchanged, whatever they contain: as String, Nullable(String) and in an Array(String)', async () => {
    const answers = await inProcess<Echo[]>(CALLS, 'echo', WILD);

    expect(answers).to.deep.equal(WILD.map((wild) => ({ s: wild, n: wild, a: [wild, ...WILD] })));
  });

  it('keep null and numbers', async () => {
    const values = { n: null, i: 7 };

    expect(await inProcess(CALLS, 'nullAndNumber', values)).to.deep.equal([values]);
  });

  it('belong to their connection: a slow statement with parameters holds up no other connection', async () => {
    const order = await inProcess(CALLS, 'besideSlow', ['a', 'b', 'c']);

    expect(order).to.deep.equal(['a', 'b', 'c', 'slow']);
  });

  const TEXTS: [QueryParam, string][] = [
    [null, String.raw`'\\N'`],
    [7, "'7'"],
    ["x'y", String.raw`'x\'y'`],
    ['\\\t\n\r\0', String.raw`'\\\\\\t\\n\\r\\0'`],
    [['x', "y'z\0"], String.raw`'[\'x\', \'y\\\'z\\0\']'`],
  ];
  for (const [value, text] of TEXTS) {
    it(`are written as ${text}`, () => {
      expect(withParamsSet('SELECT 1', { a: value })).to.equal(`SET param_a = ${text}; SELECT 1`);
    });
  }

  it('are separated by commas', () => {
    expect(withParamsSet('SELECT 1', { a: 1, b: 2 })).to.equal("SET param_a = '1', param_b = '2'; SELECT 1");
  });

  it('leave the statement as it is in its file', () => {
    expect(withParamsSet('SELECT {a: String}', { a: "x'y" })).to.equal(
      "SET param_a = 'x\\'y'; SELECT {a: String}",
    );
    expect(withParamsSet('SELECT 1', {})).to.equal('SELECT 1');
  });
});
