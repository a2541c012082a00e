// The properties that compare the module with another engine: the TypeScript engine, or a broken copy of it.
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

/** Makes the engine to compare with the module. */
export type MakeEngine = (policy: string) => DecideText;

export type Difference = { policy: string; call: string; expected: string; actual: string };

type Case = { policy: string; calls: Uint8Array[] };

const PATHS: Tree[] = [
  ...['v', 'v', 'toString', 'constructor', 'v[0]', 'v.length'].map(string),
  array([string('v'), string('0')]),
];

/** A: any policy, any call text. */
const anyCase: fc.Arbitrary<Case> = fc.record({
  policy: policyArbitrary,
  calls: fc.array(callArbitrary, { minLength: 10, maxLength: 20 }),
});

/** B: one operator, on values of every kind and near its operand, in many places. */
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

/** The value where the paths look for it, and elsewhere, where no path should find it. */
function callsWith(value: Tree, isEverywhere: boolean): Uint8Array[] {
  const places: Members[] = [{ v: value, toString: value }];
  if (isEverywhere) {
    const inside = members({ 0: value, length: value });
    places.push({}, { v: array([value]) }, { v: inside }, { v: string('text') });
  }
  return places.map((args) =>
    new TextEncoder().encode(render(members({ tool: string('t'), arguments: members(args) }))),
  );
}

type Members = Record<string, Tree>;

function members(values: Members): Tree {
  return object(Object.entries(values));
}

const PROPERTIES = { A: anyCase, B: operatorCase };

type Property = keyof typeof PROPERTIES;

/** Runs a property. Returns the first difference left after shrinking, or undefined. */
export function findDifference(
  property: Property,
  makeEngine: MakeEngine,
  numRuns: number,
): { difference: Difference | undefined; calls: number } {
  let calls = 0;
  const law = fc.property(PROPERTIES[property], (one) => {
    calls += one.calls.length;
    return differenceIn(answered(one), makeEngine) === undefined;
  });
  const { counterexample } = fc.check(law, { numRuns });
  const [failed] = counterexample ?? [];
  return { difference: failed && differenceIn(answered(failed), makeEngine), calls };
}

/** The cases of a property for a fixed seed. The module answers each of them once, on demand. */
export function fixedCases(property: Property, options: { numRuns: number; seed: number }): AnsweredCase[] {
  const cases: AnsweredCase[] = [];
  fc.assert(
    fc.property(PROPERTIES[property], (one) => void cases.push(answered(one))),
    options,
  );
  return cases;
}

export type AnsweredCase = Case & { expected: () => string[] };

function answered({ policy, calls }: Case): AnsweredCase {
  let answers: string[] | undefined;
  const answer = (): string[] => {
    const wasm = createWasmEngine(moduleOf(policy));
    return calls.map((call) => wasm.decideText(call));
  };
  return { policy, calls, expected: () => (answers ??= answer()) };
}

export function differenceIn(
  { policy, calls, expected }: AnsweredCase,
  makeEngine: MakeEngine,
): Difference | undefined {
  const engine = makeEngine(policy);
  for (const [index, expectedText] of expected().entries()) {
    const call = calls[index] ?? new Uint8Array();
    const actual = attempt(engine, call);
    if (expectedText !== actual) {
      return { policy, call: Buffer.from(call).toString(), expected: expectedText, actual };
    }
  }
  return undefined;
}

/** A broken copy may throw, which is a difference, too. */
function attempt(engine: DecideText, call: Uint8Array): string {
  try {
    return engine(call);
  } catch (error) {
    return String(error);
  }
}
