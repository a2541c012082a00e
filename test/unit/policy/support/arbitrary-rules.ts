import fc from 'fast-check';
import { conditionArbitrary, ROLE_NAMES, TOOL_NAMES } from './arbitrary-policy.ts';
import { array, number, object, render, string, word, type Tree } from './json-tree.ts';

const HINTS = [
  object([]),
  object([
    ['max', number('1000.0')],
    ['__proto__', word('null')],
    ['10', string('é"')],
    ['2', array([])],
  ]),
];

type Universe = { tools: string[]; roles: string[] };

const universeArbitrary: fc.Arbitrary<Universe> = fc.record({
  tools: fc.subarray(TOOL_NAMES, { minLength: 1 }),
  roles: fc.subarray(ROLE_NAMES, { minLength: 1 }),
});

/** A whole policy as text: names of every kind, rules of every shape. */
export const policyArbitrary: fc.Arbitrary<string> = universeArbitrary.chain(({ tools, roles }) =>
  fc
    .tuple(rowsArbitrary({ tools, roles }), fc.array(ruleArbitrary({ tools, roles }), { maxLength: 5 }))
    .map(([rows, rules]) =>
      render(
        object([
          ['version', number('1')],
          ['tools', array(tools.map(string))],
          ['roles', rows],
          ['rules', array(rules.map((rule, index) => object([['id', string(`r${index}`)], ...rule])))],
        ]),
      ),
    ),
);

function rowsArbitrary({ tools, roles }: Universe): fc.Arbitrary<Tree> {
  const list = fc.oneof(fc.constant(['*']), fc.subarray(tools)).map((names) => array(names.map(string)));
  const row = fc.record({
    allow: list,
    approve: fc.oneof({ weight: 2, arbitrary: fc.constant(array([])) }, { weight: 1, arbitrary: list }),
  });
  return fc
    .tuple(...roles.map(() => row))
    .map((rows) => object(roles.map((role, index) => [role, object(Object.entries(rows[index] ?? {}))])));
}

function ruleArbitrary({ tools, roles }: Universe): fc.Arbitrary<[string, Tree][]> {
  return fc
    .record(
      {
        tools: mostlyAll(tools, fc.subarray(tools)),
        roles: mostlyAll(roles, fc.subarray(roles, { minLength: 1 })),
        when: conditionArbitrary,
        require: conditionArbitrary,
        hint: fc.constantFrom(...HINTS),
        effect: fc.constantFrom('deny', 'needs_approval').map(string),
        reason: fc.constantFrom('No.', 'Say "é😀\\" first.').map(string),
      },
      { requiredKeys: ['effect', 'reason'] },
    )
    .map((fields) => Object.entries(fields));
}

/** Rules that apply to every call, so that their order matters. */
function mostlyAll(names: string[], some: fc.Arbitrary<string[]>): fc.Arbitrary<Tree> {
  return fc
    .oneof({ weight: 3, arbitrary: fc.constant(names) }, { weight: 1, arbitrary: some })
    .map((list) => array(list.map(string)));
}
