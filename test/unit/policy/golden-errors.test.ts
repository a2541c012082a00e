import { readFileSync, readdirSync } from 'node:fs';
import { expect } from 'chai';
import { errorLines } from './support/engines.ts';

// Every error of a bad policy, one line each, sorted by position: line:column message.
const GOLDEN = new URL('../../golden/policy/', import.meta.url);

const names = readdirSync(GOLDEN)
  .filter((file) => file.endsWith('.errors.txt'))
  .map((file) => file.replace('.errors.txt', ''));

describe('golden errors', () => {
  for (const name of names) {
    it(name, () => {
      const expected = read(`${name}.errors.txt`).trimEnd().split('\n');

      expect(errorLines(read(`${name}.yaml`))).to.deep.equal(expected);
    });
  }
});

function read(file: string): string {
  return readFileSync(new URL(file, GOLDEN), 'utf8');
}
