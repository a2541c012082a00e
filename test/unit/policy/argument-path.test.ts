import { expect } from 'chai';
import { argumentPathFrom, indexFrom } from '../../../client/policy/language/argument-path.ts';

describe('an argument path', () => {
  const paths: [string, (string | number)[]][] = [
    ['a', ['a']],
    ['a.b', ['a', 'b']],
    ['a[0]', ['a', 0]],
    ['a[10].b[2]', ['a', 10, 'b', 2]],
    ['a[0][1]', ['a', 0, 1]],
    ['[3].a', [3, 'a']],
    ['a b.é-1', ['a b', 'é-1']],
    ['0.1', ['0', '1']],
    ['a[99999999999]', ['a', 2_147_483_647]],
  ];
  for (const [text, steps] of paths) {
    it(`${text} has the steps ${JSON.stringify(steps)}`, () => {
      expect(argumentPathFrom(text)).to.deep.equal(steps);
    });
  }

  for (const text of [
    '',
    '.',
    '.a',
    'a.',
    'a..b',
    'a[',
    'a]',
    'a[]',
    'a[x]',
    'a[01]',
    'a[-1]',
    'a[0]b',
    'a.[0]',
    '[0',
  ]) {
    it(`"${text}" is not a path`, () => {
      expect(argumentPathFrom(text)).to.equal(undefined);
    });
  }

  it('rejects an index larger than any array', () => {
    expect(['0', '7', '2147483647', '2147483648'].map(indexFrom)).to.deep.equal([
      0, 7, 2_147_483_647, 2_147_483_647,
    ]);
  });
});
