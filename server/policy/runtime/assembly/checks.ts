// One operator on one value. A check's first word is its operator, its flags and the number of its operands.
import { conditionHolds } from './conditions';
import {
  CHECK_COMPARE,
  CHECK_CONTAINS,
  CHECK_ENDS_WITH,
  CHECK_EXISTS,
  CHECK_IN,
  CHECK_LENGTH,
  CHECK_LIKE,
  CHECK_SOME,
  CHECK_STARTS_WITH,
  CHECK_TYPE,
  FLAG_FOLD,
  FLAG_NEGATED,
  FLAG_PRESENT,
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

/** Whether the check holds; `value` is 0 where the path leads nowhere. */
export function checkHolds(check: usize, value: usize): bool {
  const op = load<u8>(check);
  const flags = load<u8>(check, 1) as u32;
  if (op == CHECK_EXISTS) return (value != 0) == ((flags & FLAG_PRESENT) != 0);
  if (op == CHECK_IN) return isMember(check, value, flags) != ((flags & FLAG_NEGATED) != 0);
  if (value == 0) return false;
  const type = load<u8>(value) as u32;
  if (op == CHECK_TYPE) return ((load<u32>(check, 8) >> type) & 1) != 0;
  if (op == CHECK_COMPARE) return type == TYPE_NUMBER && compares(check, value);
  if (op == CHECK_LENGTH) return hasLength(check, value, type);
  if (op <= CHECK_LIKE) return type == TYPE_STRING && textHolds(op, check, value, flags);
  if (type != TYPE_ARRAY) return false;
  return op == CHECK_SOME ? someHolds(check, value) : everyHolds(check, value);
}

function isMember(check: usize, value: usize, flags: u32): bool {
  if (value == 0) return false;
  const count = load<u16>(check, 2) as u32;
  const fold = (flags & FLAG_FOLD) != 0;
  let literal = check + 8;
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
  // Null, or booleans: the truth stands beside the type.
  return load<u8>(value, 1) == load<u8>(literal, 1);
}

function compares(check: usize, value: usize): bool {
  const relation = load<u16>(check, 2) as u32;
  const order = compareNumbers(value, check + 8);
  if (relation == RELATION_LT) return order < 0;
  if (relation == RELATION_GT) return order > 0;
  if (relation == RELATION_GTE) return order >= 0;
  return relation == RELATION_EQ ? order == 0 : order <= 0;
}

/** The packer makes one range of all bounds; an impossible one has its least above its most. */
function hasLength(check: usize, value: usize, type: u32): bool {
  if (type < TYPE_STRING) return false;
  let length = load<u32>(value, 8) as u32;
  if (type == TYPE_STRING) length = codePoints(load<u32>(value, 4), length) as u32;
  return length >= load<u32>(check, 8) && length <= load<u32>(check, 12);
}

function textHolds(op: u8, check: usize, value: usize, flags: u32): bool {
  const text: usize = load<u32>(value, 4);
  const length: usize = load<u32>(value, 8);
  const fold = (flags & FLAG_FOLD) != 0;
  const count = load<u16>(check, 2) as u32;
  if (op == CHECK_LIKE) return likeMatches(check + 8, count, text, length, fold);
  let literal = check + 8;
  for (let index: u32 = 0; index < count; index += 1) {
    const at: usize = load<u32>(literal);
    const bytes: usize = load<u32>(literal, 4);
    if (op == CHECK_STARTS_WITH && startsWithText(text, length, at, bytes, fold)) return true;
    if (op == CHECK_ENDS_WITH && endsWithText(text, length, at, bytes, fold)) return true;
    if (op == CHECK_CONTAINS && containsText(text, length, literal, fold)) return true;
    literal += 12;
  }
  return false;
}

function everyHolds(check: usize, array: usize): bool {
  let element: usize = load<u32>(array, 4);
  const end = element + (load<u32>(array, 8) as usize) * VALUE_BYTES;
  while (element < end) {
    if (!conditionHolds(check + 8, 0, element)) return false;
    element += VALUE_BYTES;
  }
  return true;
}

function someHolds(check: usize, array: usize): bool {
  let element: usize = load<u32>(array, 4);
  const end = element + (load<u32>(array, 8) as usize) * VALUE_BYTES;
  while (element < end) {
    if (conditionHolds(check + 8, 0, element)) return true;
    element += VALUE_BYTES;
  }
  return false;
}
