import { compareDecimals, decimalFrom, RELATIONS } from './decimal.ts';
import { JsonNumber, typeOf, type JsonValue } from './json-value.ts';
import { literalSearch } from './literal-search.ts';
import { likeTest, textTest, type TextTest } from './match-text.ts';
import type { Bound, Condition, Literal, Operator, PathStep } from './policy-ir.ts';
import { codePointCount, foldAscii } from './utf8.ts';

/** The values that a condition tests: the arguments, and inside every/some the element. */
type Subject = { args: JsonValue | undefined; element: JsonValue | undefined };

export type ConditionTest = (subject: Subject) => boolean;

/** Compiles a condition to a function, once per policy. */
export function conditionTest(condition: Condition): ConditionTest {
  switch (condition.kind) {
    case 'all': {
      const tests = condition.conditions.map(conditionTest);
      return (subject) => tests.every((test) => test(subject));
    }
    case 'any': {
      const tests = condition.conditions.map(conditionTest);
      return (subject) => tests.some((test) => test(subject));
    }
    case 'not': {
      const test = conditionTest(condition.condition);
      return (subject) => !test(subject);
    }
    default: {
      const { base, path } = condition;
      const tests: ValueTest[] = condition.operators.map(operatorTest);
      return ({ args, element }) => {
        const value = valueAt(base === 'arguments' ? args : element, path);
        return tests.every((test) => test(value));
      };
    }
  }
}

/** Undefined if there is no value at the path. */
function valueAt(root: JsonValue | undefined, path: PathStep[]): JsonValue | undefined {
  let value = root;
  for (const step of path) {
    if (typeof step === 'number') value = Array.isArray(value) ? value[step] : undefined;
    else value = value instanceof Map ? value.get(step) : undefined;
  }
  return value;
}

type ValueTest = (value: JsonValue | undefined) => boolean;

/** Every test is true or false. For a missing value, or one of another type, only `exists: false`, `ne` and `not_in` are true. */
function operatorTest(operator: Operator): ValueTest {
  switch (operator.op) {
    case 'exists':
      return (value) => (value !== undefined) === operator.present;
    case 'type':
      return (value) => value !== undefined && operator.types.includes(typeOf(value));
    case 'in':
      return membershipTest(operator);
    case 'compare':
      return comparisonTest(operator.bound);
    case 'starts_with':
    case 'ends_with':
    case 'contains':
      return literalsTest(operator);
    case 'like':
      return stringTest(likeTest(operator.pattern, operator.fold));
    case 'length':
      return lengthTest(operator.bounds);
    default:
      return quantifierTest(operator.op, conditionTest(operator.condition));
  }
}

function stringTest(test: TextTest): ValueTest {
  return (value) => typeof value === 'string' && test(value);
}

function literalsTest({ op, literals, fold }: { op: string; literals: string[]; fold: boolean }): ValueTest {
  const tests = literals.map((literal) => literalTest(op, fold ? foldAscii(literal) : literal));
  return stringTest(textTest((text) => tests.some((test) => test(text)), fold));
}

function literalTest(op: string, literal: string): TextTest {
  if (op === 'starts_with') return (text) => text.startsWith(literal);
  if (op === 'ends_with') return (text) => text.endsWith(literal);
  const indexIn = literalSearch(literal);
  return (text) => indexIn(text, 0) >= 0;
}

function membershipTest({ negated, values, fold }: Extract<Operator, { op: 'in' }>): ValueTest {
  const tests = values.map((literal) => equalityTest(literal, fold));
  return (value) => tests.some((test) => test(value)) !== negated;
}

function equalityTest(literal: Literal, fold: boolean): ValueTest {
  switch (literal.type) {
    case 'null':
      return (value) => value === null;
    case 'boolean':
      return (value) => value === literal.value;
    case 'number':
      return comparisonTest({ relation: 'eq', value: literal.value });
    default: {
      const text = fold ? foldAscii(literal.value) : literal.value;
      return stringTest(textTest((value) => value === text, fold));
    }
  }
}

function comparisonTest({ relation, value: bound }: Bound): ValueTest {
  const holds = RELATIONS[relation];
  return (value) => value instanceof JsonNumber && holds(compareDecimals(value.value, bound));
}

function lengthTest(bounds: Bound[]): ValueTest {
  const tests = bounds.map(comparisonTest);
  return (value) => {
    const length = lengthOf(value);
    const exact = length === undefined ? undefined : decimalFrom(String(length));
    return exact !== undefined && tests.every((test) => test(new JsonNumber(exact)));
  };
}

function lengthOf(value: JsonValue | undefined): number | undefined {
  if (typeof value === 'string') return codePointCount(value);
  if (Array.isArray(value)) return value.length;
  return value instanceof Map ? value.size : undefined;
}

function quantifierTest(op: 'every' | 'some', test: ConditionTest): ValueTest {
  return (value) => {
    if (!Array.isArray(value)) return false;
    const holds = (element: JsonValue): boolean => test({ args: undefined, element });
    return op === 'every' ? value.every(holds) : value.some(holds);
  };
}
