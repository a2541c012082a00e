import { expect } from 'chai';
import { enginesOf, type Engines } from './support/engines.ts';
import { fastestCpuMs } from '../../support/cpu-time.ts';

// The limits of calls and decisions, in both engines.

const PLAIN = 'version: 1\ntools: [t]\nroles: {"*": {allow: [t]}}\n';
const ALLOWED = '{"outcome":"allow","reason":"","violations":[],"hint":null}';

function refused(code: string): string {
  return `{"outcome":"deny","reason":"The call cannot be read.","violations":["${code}"],"hint":{"code":"${code}"}}`;
}

function both({ typescript, wasm }: Engines, call: string | Uint8Array): string {
  const text = typescript.decideText(call);
  expect(wasm.decideText(call)).to.equal(text);
  return text;
}

function callWith(value: string): string {
  return `{"tool":"t","arguments":{"a":${value}}}`;
}

describe('limits of a call', () => {
  const engines = enginesOf(PLAIN);

  it('256 KiB, counted in bytes', () => {
    const text = (bytes: number): string => callWith(`"${'é'.repeat((bytes - callWith('""').length) / 2)}"`);

    expect(both(engines, text(262_143) + ' ')).to.equal(ALLOWED);
    expect(both(engines, text(262_143) + '  ')).to.equal(refused('too_large'));
    expect(both(engines, new TextEncoder().encode(text(262_143) + '  '))).to.equal(refused('too_large'));
    expect(both(engines, ' '.repeat(2_000_000))).to.equal(refused('too_large'));
  });

  it('too_large comes before bad_json: the text is not parsed', () => {
    expect(both(engines, '\ud800'.repeat(100_000))).to.equal(refused('too_large'));
    expect(both(engines, '\ud800'.repeat(10))).to.equal(refused('bad_json'));
  });

  it('64 levels, the call itself the first', () => {
    const nested = (depth: number): string => callWith('['.repeat(depth - 2) + ']'.repeat(depth - 2));

    expect(both(engines, nested(64))).to.equal(ALLOWED);
    expect(both(engines, nested(65))).to.equal(refused('bad_json'));
    expect(both(engines, `[${'['.repeat(60_000)}`)).to.equal(refused('bad_json'));
  });

  it('65,536 values, the call itself the first', () => {
    const values = (count: number): string =>
      callWith(`[${Array.from({ length: count - 4 }, () => '1').join(',')}]`);

    expect(both(engines, values(65_536))).to.equal(ALLOWED);
    expect(both(engines, values(65_537))).to.equal(refused('bad_json'));
  });

  it('many keys in an object, each once, or one twice', () => {
    const keys = Array.from({ length: 20_000 }, (_, index) => `"k${index}":0`);

    expect(both(engines, callWith(`{${keys.join(',')}}`))).to.equal(ALLOWED);
    expect(both(engines, callWith(`{${[...keys, '"k777":1'].join(',')}}`))).to.equal(refused('bad_json'));
  });

  it('broken UTF-8', () => {
    const broken = [[0xff], [0xc0, 0x80], [0xe0, 0x80, 0x80], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xe2, 0x82]]; // prettier-ignore
    for (const bytes of broken) {
      const [head = '', tail = ''] = callWith('"|"').split('|');
      const call = Uint8Array.from([...Buffer.from(head), ...bytes, ...Buffer.from(tail)]);

      expect(both(engines, call)).to.equal(refused('bad_json'));
    }
  });
});

describe('limits of a decision', () => {
  it('at most 100 violations, even if the deciding rule comes later', () => {
    const rules = Array.from({ length: 150 }, (_, index) => {
      const effect = index === 140 ? 'deny' : 'needs_approval';
      return `  - {id: r${index}, effect: ${effect}, reason: Rule ${index}.}`;
    });
    const policy = `version: 1\ntools: [t]\nroles: {"*": {approve: [t]}}\nrules:\n${rules.join('\n')}\n`;
    const text = both(enginesOf(policy), '{"tool":"t"}');
    const decision = JSON.parse(text) as { reason: string; violations: string[] };

    expect(decision.reason).to.equal('Rule 140.');
    expect(decision.violations).to.have.length(100);
    expect(decision.violations[0]).to.equal('approval_by_role');
    expect(decision.violations[99]).to.equal('r98: Rule 98.');
  });

  it('cuts allowed_roles to 4 KiB, to the byte, and counts the rest', () => {
    // One name grows byte by byte, so that all sizes around the limit occur.
    for (let length = 1; length <= 100; length += 1) {
      const names = [`0${'x'.repeat(length - 1)}`, ...roleNames(62)];
      const hint = deniedHint(names);
      const next = names[hint.allowed_roles.length];

      expect(JSON.stringify(hint).length).to.be.at.most(4_096);
      expect(hint.allowed_roles).to.deep.equal(names.slice(0, hint.allowed_roles.length));
      expect(hint.more).to.equal(names.length - hint.allowed_roles.length);
      const larger = { ...hint, allowed_roles: [...hint.allowed_roles, next], more: (hint.more ?? 0) - 1 };
      expect(JSON.stringify(larger).length).to.be.above(4_096);
    }
  });

  it('keeps allowed_roles of exactly 4 KiB; with one byte more one name goes', () => {
    const some = roleNames(50).map((name) => name.slice(0, 76));
    const code = 'role_not_allowed';
    const room = 4_096 - JSON.stringify({ code, allowed_roles: [...some, ''] }).length;
    const full = [...some, 'z'.repeat(room)];

    expect(deniedHint(full)).to.deep.equal({ code, allowed_roles: full });
    expect(deniedHint([...some, 'z'.repeat(room + 1)])).to.deep.equal({ code, allowed_roles: some, more: 1 });
  });

  function roleNames(length: number): string[] {
    return Array.from({ length }, (_, index) => `${index + 10}${'y'.repeat(78)}`);
  }

  function deniedHint(names: string[]): { code: string; allowed_roles: string[]; more?: number } {
    const rows = names.map((name) => `"${name}": {allow: [t]}`);
    const engines = enginesOf(`version: 1\ntools: [t]\nroles: {${rows.join(', ')}, nobody: {}}\n`);
    const text = both(engines, '{"tool":"t","role":"nobody"}');
    return (JSON.parse(text) as { hint: ReturnType<typeof deniedHint> }).hint;
  }
});

describe('searching is linear', () => {
  /** The worst case of the built-in search. */
  const repeating = Array.from({ length: 16 }, (_, index) => `${'a'.repeat(500 - index)}b${'a'.repeat(500)}`);
  const searches: [string, string][] = [
    ['contains', `{arg: a, contains: ${'a'.repeat(1_023)}b}`],
    ['contains with a b between', `{arg: a, contains: [${repeating.join(', ')}]}`],
    ['like', `{arg: a, like: "*${'a'.repeat(1_000)}b*"}`],
    ['like with a b between', `{any: [${repeating.map((text) => `{arg: a, like: "*${text}*"}`).join()}]}`],
    ['like with ?', `{arg: a, like: "*${'a?'.repeat(500)}b*"}`],
    ['like with many parts', `{arg: a, like: "${'*a'.repeat(300)}*b*"}`],
    ['like that folds', `{arg: a, like: "*${'A?'.repeat(500)}B*", ignore_case: true}`],
  ];

  for (const [what, when] of searches) {
    it(`${what}: 256 KiB of the worst text in under 150 ms`, () => {
      const engines = enginesOf(`${PLAIN}rules: [{id: r, effect: deny, reason: R., when: ${when}}]\n`);
      const call = callWith(`"${'a'.repeat(262_000)}"`);

      expect(both(engines, call)).to.equal(ALLOWED);
      expect(fastestCpuMs(() => engines.wasm.decideText(call))).to.be.below(150);
      expect(fastestCpuMs(() => engines.typescript.decideText(call))).to.be.below(150);
    });
  }
});
