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
const ruleOf = (id: string, reason = 'R.') => `{id: ${id}, effect: deny, reason: ${reason}}`;
/** Text of this many bytes, two per character if possible. */
const bytesOf = (bytes: number): string => 'é'.repeat(bytes / 2) + 'a'.repeat(bytes % 2);

/** The limited thing and its limit, a policy with exactly that many, and the error for one more. */
const LIMITS: [string, number, (count: number) => string, string][] = [
  ['bytes of text', 65_536, padded, '1:1 the policy has more than 65536 bytes'],
  ['tools', 256, (n) => policy({ tools: list(n, (i) => `t${i}`) }), 'tools has more than 256 items'],
  [
    'roles',
    64,
    (n) => policy({ roles: `{${list(n, (i) => `r${i}: {}`).slice(1, -1)}}` }),
    'roles has more than 64 rows',
  ],
  ['rules', 256, (n) => policy({ rules: list(n, (i) => ruleOf(`r${i}`)) }), 'rules has more than 256 items'],
  ['conditions', 2_000, conditions, 'the policy has more than 2000 conditions'],
  ['levels of conditions', 12, (n) => rule(`when: ${nested(n)}`), 'conditions nest deeper than 12'],
  [
    'items of a list',
    256,
    (n) => rule(`when: {arg: a, in: ${list(n, String)}}`),
    'in has more than 256 items',
  ],
  [
    'bytes of a literal',
    1_024,
    (n) => rule(`when: {arg: a, contains: ${bytesOf(n)}}`),
    'contains has a literal of more than 1024 bytes',
  ],
  [
    'digits of a number',
    1_024,
    (n) => rule(`when: {arg: a, eq: ${'1'.repeat(n)}}`),
    'eq has a literal of more than 1024 bytes',
  ],
  [
    'bytes of a name in a path',
    1_024,
    (n) => rule(`when: {arg: ${bytesOf(n)}, eq: 1}`),
    'a name in a path has more than 1024 bytes',
  ],
  [
    'steps of a path',
    16,
    (n) => rule(`when: {arg: ${'a.'.repeat(n - 1)}a, eq: 1}`),
    'a path has more than 16 steps',
  ],
  [
    'bytes of a tool name',
    128,
    (n) => policy({ tools: `[${bytesOf(n)}]` }),
    'a tool name has 1 to 128 bytes',
  ],
  [
    'levels of lists and mappings',
    64,
    (n) => rule(`hint: ${'{a: '.repeat(n - 3)}1${'}'.repeat(n - 3)}`),
    'nested deeper than 64 levels',
  ],
  [
    'characters of an agent name',
    200,
    (n) => `agent: ${'😀'.repeat(n)}\n${policy({})}`,
    'agent has more than 200 characters',
  ],
  [
    'characters of a role name',
    100,
    (n) => policy({ roles: `{${'😀'.repeat(n)}: {}}` }),
    'a role name has more than 100 characters',
  ],
  [
    'characters of a rule id',
    64,
    (n) => policy({ rules: `[${ruleOf('r'.repeat(n))}]` }),
    'id has more than 64 characters',
  ],
  [
    'bytes of a reason',
    300,
    (n) => policy({ rules: `[${ruleOf('r', bytesOf(n))}]` }),
    'reason has more than 300 bytes',
  ],
  [
    'bytes of a hint',
    4_096,
    (n) => rule(`hint: {a: ${'x'.repeat(n - '{"a":""}'.length)}}`),
    'hint has more than 4096 bytes of JSON',
  ],
];

describe('limits of the language', () => {
  for (const [what, count, policyWith, error] of LIMITS) {
    it(`${count.toLocaleString('en')} ${what} and not more`, () => {
      const errors = errorLines(policyWith(count + 1));

      expect(errorLines(policyWith(count))).to.deep.equal([]);
      expect(errors).to.have.length(1);
      expect(errors[0]).to.contain(error);
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
    it(`${what}: refused in under 0.1 s`, () => {
      expect(parsePolicy(text).ok).to.equal(false);
      expect(fastestCpuMs(() => parsePolicy(text))).to.be.below(100);
    });
  }

  it('never throws', () => {
    const texts = ['\ud800', '"\\ud800": 1', '\0', '\x1f', '\x02\x18', '"\\U00110000"', '!', '&', '*', '%', '\ufeff']; // prettier-ignore
    for (const text of texts) expect(parsePolicy(text).ok).to.equal(false);
  });
});
