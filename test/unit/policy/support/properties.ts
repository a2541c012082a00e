// The two properties of POLICY 5, apart from the engines they are run on: the tests run them on the
// TypeScript engine and on broken copies of it.
import fc from 'fast-check';
import { callArbitrary } from './arbitrary-call.ts';
import { plainOperatorArbitrary } from './arbitrary-policy.ts';
import { policyArbitrary } from './arbitrary-rules.ts';
import { valueArbitrary } from './arbitrary-values.ts';
import { createWasmEngine } from '../../../../client/policy/wasm-engine.ts';
import { moduleOf } from './engines.ts';
import { nearValues } from './near-values.ts';
import { array, object, render, string, word, type Tree } from './json-tree.ts';

export type DecideText = (call: Uint8Array) => string;

/** Makes the engine that is held against the module. */
export type MakeEngine = (policy: string) => DecideText;

export type Difference = { policy: string; call: string; expected: string; actual: string };

type Case = { policy: string; calls: Uint8Array[] };

const PATHS: Tree[] = [
  string('v'),
  string('v'),
  string('toString'),
  string('constructor'),
  string('v[0]'),
  string('v.length'),
  array([string('v'), string('0')]),
];

/** A: any policy, any call text. */
const anyCase: fc.Arbitrary<Case> = fc.record({
  policy: policyArbitrary,
  calls: fc.array(callArbitrary, { minLength: 10, maxLength: 20 }),
});

/** B: one operator, on values of every kind and on those that its operand is about, in many places. */
const operatorCase: fc.Arbitrary<Case> = fc
  .record({
    operator: plainOperatorArbitrary,
    quantifier: fc.option(fc.constantFrom('every', 'some'), { freq: 4 }),
    folds: fc.boolean(),
    path: fc.constantFrom(...PATHS),
    values: fc.array(valueArbitrary, { minLength: 4, maxLength: 8 }),
  })
  .map(({ operator, quantifier, folds, path, values }) => {
    const fold: [string, Tree][] = folds ? [['ignore_case', word('true')]] : [];
    const test = quantifier === null ? [operator, ...fold] : [pair(quantifier, object([operator, ...fold]))];
    const near = nearValues(operator);
    const lists = [
      array([]),
      array(near),
      array([...near, ...values]),
      ...near.map((value) => array([value])),
    ];
    const held = quantifier === null ? [...values, ...near] : [...values, ...lists];
    const calls = held.flatMap((value, index) => callsWith(value, index === 0));
    return { policy: operatorPolicy(path, test), calls };
  });

function pair(name: string, tree: Tree): [string, Tree] {
  return [name, tree];
}

function operatorPolicy(path: Tree, test: [string, Tree][]): string {
  const when = render(object([['arg', path], ...test]));
  return `version: 1\ntools: [t]\nroles: {"*": {allow: ["*"]}}\nrules:\n  - {id: r, when: ${when}, effect: deny, reason: No.}\n`;
}

/** The value where the paths look for it; once in all the places where no path should find it, too. */
function callsWith(value: Tree, isEverywhere: boolean): Uint8Array[] {
  const places: [string, Tree][][] = [
    [
      ['v', value],
      ['toString', value],
    ],
  ];
  if (isEverywhere) {
    places.push(
      [],
      [['v', array([value])]],
      [
        [
          'v',
          object([
            ['0', value],
            ['length', value],
          ]),
        ],
      ],
      [['v', string('text')]],
    );
  }
  return places.map((members) =>
    new TextEncoder().encode(
      render(
        object([
          ['tool', string('t')],
          ['arguments', object(members)],
        ]),
      ),
    ),
  );
}

export const PROPERTIES = { A: anyCase, B: operatorCase };

/** Runs a property; returns the first difference that is left after shrinking, or nothing. */
export function findDifference(
  property: keyof typeof PROPERTIES,
  makeEngine: MakeEngine,
  options: { numRuns: number; seed?: number; endOnFailure?: boolean },
): { difference: Difference | undefined; calls: number } {
  let calls = 0;
  const law = fc.property(PROPERTIES[property], (one) => {
    calls += one.calls.length;
    return differenceIn(one, makeEngine) === undefined;
  });
  const { counterexample } = fc.check(law, options);
  const [failed] = counterexample ?? [];
  return { difference: failed && differenceIn(failed, makeEngine), calls };
}

function differenceIn({ policy, calls }: Case, makeEngine: MakeEngine): Difference | undefined {
  const wasm = createWasmEngine(moduleOf(policy));
  const engine = makeEngine(policy);
  for (const call of calls) {
    const expected = wasm.decideText(call);
    const actual = attempt(engine, call);
    if (expected !== actual) return { policy, call: Buffer.from(call).toString(), expected, actual };
  }
  return undefined;
}

/** A broken copy may throw, which is a difference like any other. */
function attempt(engine: DecideText, call: Uint8Array): string {
  try {
    return engine(call);
  } catch (error) {
    return String(error);
  }
}
