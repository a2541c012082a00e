// One operator on one value. Its first word holds the operator, its flags and the number of its operands.
import { conditionHolds } from './conditions';
import {
  FLAG_FOLD,
  FLAG_NEGATED,
  FLAG_PRESENT,
  OPERATOR_COMPARE,
  OPERATOR_CONTAINS,
  OPERATOR_ENDS_WITH,
  OPERATOR_EXISTS,
  OPERATOR_IN,
  OPERATOR_LENGTH,
  OPERATOR_LIKE,
  OPERATOR_SOME,
  OPERATOR_STARTS_WITH,
  OPERATOR_TYPE,
  RELATION_EQ,
  RELATION_GT,
  RELATION_GTE,
  RELATION_LT,
  TYPE_ARRAY,
  TYPE_NUMBER,
  TYPE_STRING,
  VALUE_BYTES,
} from './layout';
import { likeMatches } from './like';
import { compareNumbers } from './numbers';
import { codePoints, containsText, endsWithText, equalsText, startsWithText } from './text';

/** Whether an operator holds for a value; 0 stands for no value. */
export function operatorHolds(operator: usize, value: usize): bool {
  const op = load<u8>(operator);
  const flags = load<u8>(operator, 1) as u32;
  if (op == OPERATOR_EXISTS) return (value != 0) == ((flags & FLAG_PRESENT) != 0);
  if (op == OPERATOR_IN) return isMember(operator, value, flags) != ((flags & FLAG_NEGATED) != 0);
  if (value == 0) return false;
  const type = load<u8>(value) as u32;
  if (op == OPERATOR_TYPE) return ((load<u32>(operator, 8) >> type) & 1) != 0;
  if (op == OPERATOR_COMPARE) return type == TYPE_NUMBER && compares(operator, value);
  if (op == OPERATOR_LENGTH) return hasLength(operator, value, type);
  if (op <= OPERATOR_LIKE) return type == TYPE_STRING && textHolds(op, operator, value, flags);
  if (type != TYPE_ARRAY) return false;
  return op == OPERATOR_SOME ? someHolds(operator, value) : everyHolds(operator, value);
}

function isMember(operator: usize, value: usize, flags: u32): bool {
  if (value == 0) return false;
  const count = load<u16>(operator, 2) as u32;
  const fold = (flags & FLAG_FOLD) != 0;
  let literal = operator + 8;
  for (let index: u32 = 0; index < count; index += 1) {
    if (equalsLiteral(literal, value, fold)) return true;
    literal += VALUE_BYTES;
  }
  return false;
}

function equalsLiteral(literal: usize, value: usize, fold: bool): bool {
  const type = load<u8>(literal) as u32;
  if (load<u8>(value) != type) return false;
  if (type == TYPE_STRING) {
    return equalsText(
      load<u32>(value, 4),
      load<u32>(value, 8),
      load<u32>(literal, 4),
      load<u32>(literal, 8),
      fold,
    );
  }
  if (type == TYPE_NUMBER) return compareNumbers(value, literal) == 0;
  // Null or boolean: the byte after the type is 1 for true.
  return load<u8>(value, 1) == load<u8>(literal, 1);
}

function compares(operator: usize, value: usize): bool {
  const relation = load<u16>(operator, 2) as u32;
  const order = compareNumbers(value, operator + 8);
  if (relation == RELATION_LT) return order < 0;
  if (relation == RELATION_GT) return order > 0;
  if (relation == RELATION_GTE) return order >= 0;
  return relation == RELATION_EQ ? order == 0 : order <= 0;
}

/** The packer merges all bounds into one range; in an impossible range the minimum is above the maximum. */
function hasLength(operator: usize, value: usize, type: u32): bool {
  if (type < TYPE_STRING) return false;
  let length = load<u32>(value, 8) as u32;
  if (type == TYPE_STRING) length = codePoints(load<u32>(value, 4), length) as u32;
  return length >= load<u32>(operator, 8) && length <= load<u32>(operator, 12);
}

function textHolds(op: u8, operator: usize, value: usize, flags: u32): bool {
  const text: usize = load<u32>(value, 4);
  const length: usize = load<u32>(value, 8);
  const fold = (flags & FLAG_FOLD) != 0;
  const count = load<u16>(operator, 2) as u32;
  if (op == OPERATOR_LIKE) return likeMatches(operator + 8, count, text, length, fold);
  let literal = operator + 8;
  for (let index: u32 = 0; index < count; index += 1) {
    const at: usize = load<u32>(literal);
    const bytes: usize = load<u32>(literal, 4);
    if (op == OPERATOR_STARTS_WITH && startsWithText(text, length, at, bytes, fold)) return true;
    if (op == OPERATOR_ENDS_WITH && endsWithText(text, length, at, bytes, fold)) return true;
    if (op == OPERATOR_CONTAINS && containsText(text, length, literal, fold)) return true;
    literal += 12;
  }
  return false;
}

function everyHolds(operator: usize, array: usize): bool {
  let element: usize = load<u32>(array, 4);
  const end = element + (load<u32>(array, 8) as usize) * VALUE_BYTES;
  while (element < end) {
    if (!conditionHolds(operator + 8, 0, element)) return false;
    element += VALUE_BYTES;
  }
  return true;
}

function someHolds(operator: usize, array: usize): bool {
  let element: usize = load<u32>(array, 4);
  const end = element + (load<u32>(array, 8) as usize) * VALUE_BYTES;
  while (element < end) {
    if (conditionHolds(operator + 8, 0, element)) return true;
    element += VALUE_BYTES;
  }
  return false;
}
