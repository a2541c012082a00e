import { expect } from 'chai';
import { irOf } from './support/engines.ts';

const number = (digits: string, exponent: number) => ({ negative: false, digits, exponent });

describe('the intermediate form of a policy', () => {
  it('has the whole content of the text, with tools by index', () => {
    const ir = irOf(`
      version: 1
      agent: bot
      description: For tests.
      tools: [a, b]
      roles: { r: { allow: ['*'] }, "*": { allow: [b, a], approve: [] } }
      rules:
        - id: one
          tools: [b, a]
          roles: [r]
          when: { all: [{ not: { arg: x, eq: 1 } }, { any: [{ arg: y, eq: 'z' }] }] }
          effect: deny
          reason: No.
          hint: { a: [1, true, null, "x"], b: { c: false } }
        - id: two
          require: { arg: "x[0].y", gt: 0, lte: 1e3 }
          effect: needs_approval
          reason: Ask.
    `);

    const notOne = {
      kind: 'not',
      condition: {
        kind: 'test',
        base: 'arguments',
        path: ['x'],
        operators: [
          { op: 'in', negated: false, values: [{ type: 'number', value: number('1', 1) }], fold: false },
        ],
      },
    };
    const isZ = {
      kind: 'test',
      base: 'arguments',
      path: ['y'],
      operators: [{ op: 'in', negated: false, values: [{ type: 'string', value: 'z' }], fold: false }],
    };
    expect(ir).to.deep.equal({
      agent: 'bot',
      description: 'For tests.',
      tools: ['a', 'b'],
      roles: [
        { name: 'r', allow: [0, 1], approve: [] },
        { name: '*', allow: [0, 1], approve: [] },
      ],
      rules: [
        {
          id: 'one',
          tools: [0, 1],
          roles: [0],
          when: { kind: 'all', conditions: [notOne, { kind: 'any', conditions: [isZ] }] },
          require: null,
          effect: 'deny',
          reason: 'No.',
          hintText: '{"a":[1,true,null,"x"],"b":{"c":false}}',
        },
        {
          id: 'two',
          tools: null,
          roles: null,
          when: null,
          require: {
            kind: 'test',
            base: 'arguments',
            path: ['x', 0, 'y'],
            operators: [
              { op: 'compare', bound: { relation: 'gt', value: number('', 0) } },
              { op: 'compare', bound: { relation: 'lte', value: number('1', 4) } },
            ],
          },
          effect: 'needs_approval',
          reason: 'Ask.',
          hintText: '{"code":"rule","rule":"two"}',
        },
      ],
    });
  });

  const text = (value: string) => ({ type: 'string', value });
  const compare = (relation: string, value: object) => ({ op: 'compare', bound: { relation, value } });
  const membership = (values: object[], { negated = false, fold = false } = {}) => ({
    op: 'in',
    negated,
    values,
    fold,
  });
  const test = (path: string[], operators: object[]) => ({ kind: 'test', base: 'element', path, operators });
  const operators: [string, object][] = [
    ['exists: true', { op: 'exists', present: true }],
    ['exists: false', { op: 'exists', present: false }],
    ['type: string', { op: 'type', types: ['string'] }],
    ['type: [number, boolean]', { op: 'type', types: ['number', 'boolean'] }],
    ['eq: x', membership([text('x')])],
    ['ne: true', membership([{ type: 'boolean', value: true }], { negated: true })],
    ['in: [1, null]', membership([{ type: 'number', value: number('1', 1) }, { type: 'null' }])],
    ['not_in: [x], ignore_case: true', membership([text('x')], { negated: true, fold: true })],
    ['lt: 1', compare('lt', number('1', 1))],
    ['lte: -2.50', compare('lte', { negative: true, digits: '25', exponent: 1 })],
    ['gt: 1e2', compare('gt', number('1', 3))],
    ['gte: 0', compare('gte', number('', 0))],
    ['starts_with: a', { op: 'starts_with', literals: ['a'], fold: false }],
    ['ends_with: [a, B], ignore_case: true', { op: 'ends_with', literals: ['a', 'B'], fold: true }],
    ['contains: x', { op: 'contains', literals: ['x'], fold: false }],
    ['like: "a*?b"', { op: 'like', pattern: [[97], [null, 98]], fold: false }],
    ['like: "A*", ignore_case: true', { op: 'like', pattern: [[65], []], fold: true }],
    [
      'length: { gte: 1, lt: 5 }',
      {
        op: 'length',
        bounds: [
          { relation: 'lt', value: number('5', 1) },
          { relation: 'gte', value: number('1', 1) },
        ],
      },
    ],
    ['every: { gt: 1 }', { op: 'every', condition: test([], [compare('gt', number('1', 1))]) }],
    ['some: { arg: a.b, eq: x }', { op: 'some', condition: test(['a', 'b'], [membership([text('x')])]) }],
    [
      'every: { not: { eq: x } }',
      { op: 'every', condition: { kind: 'not', condition: test([], [membership([text('x')])]) } },
    ],
  ];
  for (const [written, operator] of operators) {
    it(`has the operator ${written}`, () => {
      const { rules } = irOf(`
        version: 1
        tools: [a]
        roles: {}
        rules:
          - { id: r, effect: deny, reason: No., when: { arg: x, ${written} } }
      `);

      expect(rules[0]?.when).to.deep.equal({
        kind: 'test',
        base: 'arguments',
        path: ['x'],
        operators: [operator],
      });
    });
  }
});
