import { validateCondition } from './validate-condition.ts';
import {
  validateBounds,
  validateNumber,
  validatePattern,
  validateScalars,
  validateTexts,
  validateTypes,
} from './validate-operand.ts';
import type { PolicyValidator } from './policy-validator.ts';
import type { Operator, Relation } from './policy-ir.ts';
import type { YamlEntry } from './yaml-node.ts';

type OperatorPlace = { fold: boolean; depth: number };

type OperatorReader = (
  validator: PolicyValidator,
  entry: YamlEntry,
  place: OperatorPlace,
) => Operator | undefined;

const READERS = new Map<string, OperatorReader>([
  ['exists', readExists],
  [
    'type',
    (validator, { value }) => whole(validateTypes(validator, value), (types) => ({ op: 'type', types })),
  ],
  ['eq', readMembership({ negated: false, isList: false })],
  ['ne', readMembership({ negated: true, isList: false })],
  ['in', readMembership({ negated: false, isList: true })],
  ['not_in', readMembership({ negated: true, isList: true })],
  ['lt', readComparison('lt')],
  ['lte', readComparison('lte')],
  ['gt', readComparison('gt')],
  ['gte', readComparison('gte')],
  ['starts_with', readTexts('starts_with')],
  ['ends_with', readTexts('ends_with')],
  ['contains', readTexts('contains')],
  [
    'like',
    (validator, { value }, { fold }) =>
      whole(validatePattern(validator, value), (pattern) => ({ op: 'like', pattern, fold })),
  ],
  [
    'length',
    (validator, { value }) => whole(validateBounds(validator, value), (bounds) => ({ op: 'length', bounds })),
  ],
  ['every', readQuantifier('every')],
  ['some', readQuantifier('some')],
]);

export const OPERATORS: readonly string[] = [...READERS.keys()];

export function validateOperator(
  validator: PolicyValidator,
  entry: YamlEntry,
  place: OperatorPlace,
): Operator | undefined {
  return READERS.get(entry.key)?.(validator, entry, place);
}

function whole<Operand>(
  operand: Operand | undefined,
  build: (operand: Operand) => Operator,
): Operator | undefined {
  return operand === undefined ? undefined : build(operand);
}

function readExists(validator: PolicyValidator, { value }: YamlEntry): Operator | undefined {
  return whole(validator.boolean(value, 'exists'), (present) => ({ op: 'exists', present }));
}

function readMembership({ negated, isList }: { negated: boolean; isList: boolean }): OperatorReader {
  return (validator, { key, value }, { fold }) =>
    whole(validateScalars(validator, value, { what: key, isList }), (values) => ({
      op: 'in',
      negated,
      values,
      fold,
    }));
}

function readComparison(relation: Relation): OperatorReader {
  return (validator, { key, value }) =>
    whole(validateNumber(validator, value, key), (number) => ({
      op: 'compare',
      bound: { relation, value: number },
    }));
}

function readTexts(op: 'starts_with' | 'ends_with' | 'contains'): OperatorReader {
  return (validator, { key, value }, { fold }) =>
    whole(validateTexts(validator, value, key), (literals) => ({ op, literals, fold }));
}

function readQuantifier(op: 'every' | 'some'): OperatorReader {
  return (validator, { value }, { depth }) => {
    const inner = { depth: depth + 1, base: 'element' } as const;
    return whole(validateCondition(validator, value, inner), (condition) => ({ op, condition }));
  };
}
