import { expect } from 'chai';
import { irOf } from './support/engines.ts';

const number = (digits: string, exponent: number) => ({ negative: false, digits, exponent });

describe('the intermediate form of a policy', () => {
  it('has everything that the text says, with tools by their places', () => {
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
});
