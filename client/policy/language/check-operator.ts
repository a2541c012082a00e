import { checkCondition } from './check-condition.ts';
import {
  checkBounds,
  checkNumber,
  checkPattern,
  checkScalars,
  checkTexts,
  checkTypes,
} from './check-operand.ts';
import type { PolicyCheck } from './policy-check.ts';
import type { Check, Condition, Relation } from './policy-ir.ts';
import type { YamlEntry } from './yaml-node.ts';

type OperatorPlace = { fold: boolean; depth: number };

type OperatorReader = (check: PolicyCheck, entry: YamlEntry, place: OperatorPlace) => Check | undefined;

const READERS = new Map<string, OperatorReader>([
  ['exists', readExists],
  ['type', (check, { value }) => whole(checkTypes(check, value), (types) => ({ op: 'type', types }))],
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
    (check, { value }, { fold }) =>
      whole(checkPattern(check, value), (pattern) => ({ op: 'like', pattern, fold })),
  ],
  ['length', (check, { value }) => whole(checkBounds(check, value), (bounds) => ({ op: 'length', bounds }))],
  ['every', readQuantifier('every')],
  ['some', readQuantifier('some')],
]);

export const OPERATORS: readonly string[] = [...READERS.keys()];

export function isOperator(key: string): boolean {
  return READERS.has(key);
}

export function checkOperator(check: PolicyCheck, entry: YamlEntry, place: OperatorPlace): Check | undefined {
  return READERS.get(entry.key)?.(check, entry, place);
}

function whole<Operand>(operand: Operand | undefined, build: (operand: Operand) => Check): Check | undefined {
  return operand === undefined ? undefined : build(operand);
}

function readExists(check: PolicyCheck, { value }: YamlEntry): Check | undefined {
  return whole(check.boolean(value, 'exists'), (present) => ({ op: 'exists', present }));
}

function readMembership({ negated, isList }: { negated: boolean; isList: boolean }): OperatorReader {
  return (check, { key, value }, { fold }) =>
    whole(checkScalars(check, value, { what: key, isList }), (values) => ({
      op: 'in',
      negated,
      values,
      fold,
    }));
}

function readComparison(relation: Relation): OperatorReader {
  return (check, { key, value }) =>
    whole(checkNumber(check, value, key), (number) => ({
      op: 'compare',
      bound: { relation, value: number },
    }));
}

function readTexts(op: 'starts_with' | 'ends_with' | 'contains'): OperatorReader {
  return (check, { key, value }, { fold }) =>
    whole(checkTexts(check, value, key), (literals) => ({ op, literals, fold }));
}

function readQuantifier(op: 'every' | 'some'): OperatorReader {
  return (check, { value }, { depth }) => {
    const condition: Condition | undefined = checkCondition(check, value, {
      depth: depth + 1,
      base: 'element',
    });
    return whole(condition, (condition) => ({ op, condition }));
  };
}
