import { readFileSync, readdirSync } from 'node:fs';
import { expect } from 'chai';
import { enginesOf } from './support/engines.ts';

// Decisions written by hand. Both engines share the parser, so only these tests find its bugs.
// A case has a call or its exact text, and the decision, its exact text, or the rules that fire and deny.
type Case = {
  why: string;
  call?: unknown;
  text?: string;
  decision?: unknown;
  result?: string;
  fires?: string[];
};

const GOLDEN = new URL('../../golden/policy/', import.meta.url);
const CASES_MIN = 60;

const names = readdirSync(GOLDEN)
  .filter((file) => file.endsWith('.decisions.json'))
  .map((file) => file.replace('.decisions.json', ''));

describe('golden decisions', () => {
  let count = 0;

  for (const name of names) {
    const policy = read(`${name}.yaml`);
    for (const one of JSON.parse(read(`${name}.decisions.json`)) as Case[]) {
      count += 1;
      it(`${name}: ${one.why}`, () => {
        const engines = enginesOf(policy);
        const text = one.text ?? JSON.stringify(one.call);

        expect(engines.typescript.decideText(text)).to.equal(expectedText(one));
        expect(engines.wasm.decideText(text)).to.equal(expectedText(one));
      });
    }
  }

  it('are many', () => {
    expect(count).to.be.at.least(CASES_MIN);
  });
});

function read(file: string): string {
  return readFileSync(new URL(file, GOLDEN), 'utf8');
}

function expectedText({ decision, result, fires }: Case): string {
  if (result !== undefined) return result;
  if (fires === undefined) return JSON.stringify(decision);
  const [first] = fires;
  if (first === undefined) return '{"outcome":"allow","reason":"","violations":[],"hint":null}';
  const violations = fires.map((id) => `${id}: Fires.`);
  return JSON.stringify({
    outcome: 'deny',
    reason: 'Fires.',
    violations,
    hint: { code: 'rule', rule: first },
  });
}
