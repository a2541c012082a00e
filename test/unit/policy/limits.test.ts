import { expect } from 'chai';
import { parsePolicy } from '../../../client/policy/language/index.ts';
import { errorLines } from './support/engines.ts';
import { fastestCpuMs } from '../../support/cpu-time.ts';

// Every limit of the language: at the limit, and one above it.

type Parts = { tools?: string; roles?: string; rules?: string };

function policy({ tools = '[t]', roles = '{"*": {allow: ["*"]}}', rules = '[]' }: Parts): string {
  return `version: 1\ntools: ${tools}\nroles: ${roles}\nrules: ${rules}\n`;
}

function rule(fields: string): string {
  return policy({ rules: `[{id: r, effect: deny, reason: R., ${fields}}]` });
}

function list(count: number, item: (index: number) => string): string {
  return `[${Array.from({ length: count }, (_, index) => item(index)).join(',')}]`;
}

/** A condition nested to this depth. */
function nested(depth: number): string {
  return `${'{not: '.repeat(depth - 1)}{arg: a, eq: 1}${'}'.repeat(depth - 1)}`;
}

/** Eight lists of conditions; the total includes the lists. */
function conditions(count: number): string {
  const rules = Array.from({ length: 8 }, (_, index) => {
    const tests = 249 + (index === 0 ? count - 2_000 : 0);
    return `{id: r${index}, effect: deny, reason: R., when: {any: ${list(tests, () => '{arg: a, eq: 1}')}}}`;
  });
  return policy({ rules: `[${rules.join(',')}]` });
}

const padded = (bytes: number): string => policy({}) + '#'.repeat(bytes - policy({}).length);

const LIMITS: { what: string; good: string; bad: string; error: string }[] = [
  {
    what: '64 KiB of text',
    good: padded(65_536),
    bad: padded(65_537),
    error: '1:1 the policy has more than 65536 bytes',
  },
  {
    what: '256 tools',
    good: policy({ tools: list(256, (i) => `t${i}`) }),
    bad: policy({ tools: list(257, (i) => `t${i}`) }),
    error: 'tools has more than 256 items',
  },
  {
    what: '64 roles',
    good: policy({
      roles: list(64, (i) => `r${i}: {}`)
        .replace('[', '{')
        .replace(']', '}'),
    }),
    bad: policy({
      roles: list(65, (i) => `r${i}: {}`)
        .replace('[', '{')
        .replace(']', '}'),
    }),
    error: 'roles has more than 64 rows',
  },
  {
    what: '256 rules',
    good: policy({ rules: list(256, (i) => `{id: r${i}, effect: deny, reason: R.}`) }),
    bad: policy({ rules: list(257, (i) => `{id: r${i}, effect: deny, reason: R.}`) }),
    error: 'rules has more than 256 items',
  },
  {
    what: '2,000 conditions',
    good: conditions(2_000),
    bad: conditions(2_001),
    error: 'the policy has more than 2000 conditions',
  },
  {
    what: 'depth 12',
    good: rule(`when: ${nested(12)}`),
    bad: rule(`when: ${nested(13)}`),
    error: 'conditions nest deeper than 12',
  },
  {
    what: 'a list of 256',
    good: rule(`when: {arg: a, in: ${list(256, String)}}`),
    bad: rule(`when: {arg: a, in: ${list(257, String)}}`),
    error: 'in has more than 256 items',
  },
  {
    what: 'a literal of 1 KiB',
    good: rule(`when: {arg: a, contains: ${'é'.repeat(512)}}`),
    bad: rule(`when: {arg: a, contains: ${'é'.repeat(512)}a}`),
    error: 'contains has a literal of more than 1024 bytes',
  },
  {
    what: 'a path of 16 steps',
    good: rule(`when: {arg: ${'a.'.repeat(15)}a, eq: 1}`),
    bad: rule(`when: {arg: ${'a.'.repeat(16)}a, eq: 1}`),
    error: 'a path has more than 16 steps',
  },
  {
    what: 'a tool name of 128 bytes',
    good: policy({ tools: `[${'é'.repeat(64)}]` }),
    bad: policy({ tools: `[${'é'.repeat(64)}a]` }),
    error: 'a tool name has 1 to 128 bytes',
  },
  {
    what: 'a role name of 100 characters',
    good: policy({ roles: `{${'😀'.repeat(100)}: {}}` }),
    bad: policy({ roles: `{${'😀'.repeat(101)}: {}}` }),
    error: 'a role name has more than 100 characters',
  },
  {
    what: 'a rule id of 64 characters',
    good: policy({ rules: `[{id: ${'r'.repeat(64)}, effect: deny, reason: R.}]` }),
    bad: policy({ rules: `[{id: ${'r'.repeat(65)}, effect: deny, reason: R.}]` }),
    error: 'id has more than 64 characters',
  },
  {
    what: 'a reason of 300 bytes',
    good: policy({ rules: `[{id: r, effect: deny, reason: ${'é'.repeat(150)}}]` }),
    bad: policy({ rules: `[{id: r, effect: deny, reason: ${'é'.repeat(150)}.}]` }),
    error: 'reason has more than 300 bytes',
  },
  {
    what: 'a hint of 4 KiB',
    good: rule(`hint: {a: ${'x'.repeat(4_096 - 8)}}`),
    bad: rule(`hint: {a: ${'x'.repeat(4_096 - 7)}}`),
    error: 'hint has more than 4096 bytes of JSON',
  },
];

describe('limits of the language', () => {
  for (const { what, good, bad, error } of LIMITS) {
    it(`${what} and no more`, () => {
      expect(errorLines(good)).to.deep.equal([]);
      expect(errorLines(bad)).to.have.length(1);
      expect(errorLines(bad)[0]).to.contain(error);
    });
  }
});

function stairs(): string {
  return Array.from({ length: 30 }, (_, line) => ' '.repeat(line * 120) + '- '.repeat(60)).join('\n');
}

describe('hostile text', () => {
  const laughs = [
    'a: &a [x, x, x, x, x, x, x, x, x]',
    ...'bcdefghi'.split('').map((name, index) => {
      const before = String.fromCharCode('a'.charCodeAt(0) + index);
      return `${name}: &${name} [${Array.from({ length: 9 }, () => `*${before}`).join(', ')}]`;
    }),
  ].join('\n');
  const texts: [string, string][] = [
    ['billion laughs', laughs],
    ['1 MB of [', '['.repeat(1_000_000)],
    ['64 KiB and one byte', padded(65_537)],
    ['60,000 [', '['.repeat(60_000)],
    ['60,000 {', '{'.repeat(60_000)],
    ['30,000 - in one line', '- '.repeat(30_000)],
    ['30,000 ? in one line', '? '.repeat(30_000)],
    ['65,000 }', '}'.repeat(65_000)],
    ['65,000 control characters', '\x01'.repeat(65_000)],
    ['60 - a line, each line further right', stairs()],
    ['10,000 aliases', '- *a\n'.repeat(10_000)],
    ['20,000 documents', '---\n'.repeat(20_000)],
    ['nested lines', Array.from({ length: 350 }, (_, depth) => `${' '.repeat(depth)}a:`).join('\n')],
  ];

  for (const [what, text] of texts) {
    it(`${what}: refused in under 50 ms`, () => {
      expect(parsePolicy(text).ok).to.equal(false);
      expect(fastestCpuMs(() => parsePolicy(text))).to.be.below(50);
    });
  }

  it('never throws', () => {
    for (const text of [
      '\ud800',
      '"\\ud800": 1',
      '\0',
      '\x1f',
      '\x02\x18',
      '"\\U00110000"',
      '!',
      '&',
      '*',
      '%',
      '\ufeff',
    ]) {
      expect(parsePolicy(text).ok).to.equal(false);
    }
  });
});
