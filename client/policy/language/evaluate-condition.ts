import { operatorTest } from './evaluate-operator.ts';
import type { ValueTest } from './evaluate-operator.ts';
import type { JsonValue } from './json-value.ts';
import type { Condition, PathStep } from './policy-ir.ts';

/** What a condition looks at: the arguments, and inside every/some the element. */
type Subject = { args: JsonValue | undefined; element: JsonValue | undefined };

export type ConditionTest = (subject: Subject) => boolean;

/** A condition -> a function of the subject, built once per policy. */
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
      const tests: ValueTest[] = condition.operators.map((operator) => operatorTest(operator, conditionTest));
      return ({ args, element }) => {
        const value = valueAt(base === 'arguments' ? args : element, path);
        return tests.every((test) => test(value));
      };
    }
  }
}

/** Undefined where the path leads nowhere. */
export function valueAt(root: JsonValue | undefined, path: PathStep[]): JsonValue | undefined {
  let value = root;
  for (const step of path) {
    if (typeof step === 'number') value = Array.isArray(value) ? value[step] : undefined;
    else value = value instanceof Map ? value.get(step) : undefined;
  }
  return value;
}
