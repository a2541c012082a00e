import { expect } from 'chai';
import { cpuMs, fastestCpuMs } from '../../support/cpu-time.ts';
import { yamlFaults } from '../../../server/agents/yaml-faults.ts';

const MESSAGE = 'Map keys must be unique';

describe('the faults of a definition', () => {
  for (const [text, ...places] of [
    ['a: 1\nb: 2\na: 3\n', [3, 1]],
    ['a:\n  b: 1\n  "b": 2\n', [3, 3]],
    ['{a: 1, b: 2, a: 3}', [1, 14]],
    ['- {a, a}\n- {1: x, 0x1: y}\n', [1, 7], [2, 10]],
    ['a: 1\na: 2\na: 3\n', [2, 1], [3, 1]],
    ['a: 1\n&x a: 2\n? a\n', [2, 4], [3, 3]],
    ['? {k, k}\n: [{v, v}]\n', [1, 7], [2, 8]],
    ['a: {a: {a: 1}}\nb: [a, a]\n1: x\n"1": y\n'],
    ['? [a]\n: 1\n? [a]\n: 2\n'],
  ] as [string, ...[number, number][]][])
    it(`names each duplicate key of ${JSON.stringify(text)}`, () => {
      const expected = places.map(([line, column]) => ({ line, column, message: MESSAGE }));

      expect(yamlFaults(text)).to.deep.equal(expected);
    });

  for (const [text, ...fault] of [
    [
      'a: "\u0001"\nb: \u007f\n',
      [1, 5, 'Control characters are not allowed'],
      [2, 4, 'Control characters are not allowed'],
    ],
    ['a: "\t\u0085é😀"\r\n'],
    ['--- 1\n--- 2\n', [2, 1, 'A definition is one document, and a second one starts here']],
  ] as [string, ...[number, number, string][]][])
    it(`says what YAML does not allow in ${JSON.stringify(text)}`, () => {
      expect(yamlFaults(text).map(({ line, column, message }) => [line, column, message])).to.deep.equal(
        fault,
      );
    });

  it('lists duplicate keys and other faults in the order of the text, 100 at most', () => {
    const lines = (text: string) => yamlFaults(text).map(({ line }) => line);

    expect(lines('a: 1\na: 2\nb: "\\q"\na: 3\n')).to.deep.equal([2, 3, 4]);
    expect(lines('a: 1\n'.repeat(200))).to.deep.equal(Array.from({ length: 100 }, (_, i) => i + 2));
  });

  it('takes time in proportion to the number of keys', () => {
    const textOf = (length: number) =>
      `{${Array.from({ length }, (_, i) => (i + 10 * 36 ** 3).toString(36)).join(',')}}`;
    const [text, quarter] = [textOf(100_000), textOf(25_000)];

    const quarterMs = fastestCpuMs(() => yamlFaults(quarter));
    const wholeMs = cpuMs(() => expect(yamlFaults(text)).to.deep.equal([]));

    expect(text.length).to.be.at.most(524_288);
    expect(wholeMs / quarterMs).to.be.below(10);
  });
});
