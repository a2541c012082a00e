import {
  type Decimal,
  failureTable,
  foldAscii,
  type LikePattern,
  type Literal,
  type Operator,
  type Relation,
  TYPE_NAMES,
  utf8From,
} from '../../client/policy/language/index.ts';
import { ANY_BYTE, OPERATOR, FLAG, RELATION } from './blob-layout.ts';
import type { BlobWriter, PoolRef } from './blob-writer.ts';
import { lengthRange } from './length-range.ts';
import { packCondition, type PackedConditions } from './pack-condition.ts';

const RELATIONS: Record<Relation, number> = {
  eq: RELATION.EQ,
  lt: RELATION.LT,
  lte: RELATION.LTE,
  gt: RELATION.GT,
  gte: RELATION.GTE,
};

const TEXT_OPERATORS = {
  starts_with: OPERATOR.STARTS_WITH,
  ends_with: OPERATOR.ENDS_WITH,
  contains: OPERATOR.CONTAINS,
};

/** Writes one operator: its head, then its operands. The second word of the head is the address after them. */
export function packOperator(packed: PackedConditions, operator: Operator): void {
  const { blob } = packed;
  const address = blob.address;
  packHeadAndOperands(packed, operator);
  blob.patch(address + 4, blob.address);
}

function packHeadAndOperands(packed: PackedConditions, operator: Operator): void {
  const { blob } = packed;
  switch (operator.op) {
    case 'exists':
      return begin(blob, { op: OPERATOR.EXISTS, flags: operator.present ? FLAG.PRESENT : 0 });
    case 'type':
      begin(blob, { op: OPERATOR.TYPE });
      return blob.word(operator.types.reduce((mask, type) => mask | (1 << TYPE_NAMES.indexOf(type)), 0));
    case 'in':
      return packMembership(blob, operator);
    case 'compare':
      begin(blob, { op: OPERATOR.COMPARE, count: RELATIONS[operator.bound.relation] });
      return packNumber(blob, operator.bound.value);
    case 'starts_with':
    case 'ends_with':
    case 'contains':
      return packTexts(blob, operator);
    case 'like':
      return packPattern(packed, operator);
    case 'length': {
      const { least, most } = lengthRange(operator.bounds);
      begin(blob, { op: OPERATOR.LENGTH });
      blob.word(least);
      return blob.word(most);
    }
    default:
      begin(blob, { op: operator.op === 'every' ? OPERATOR.EVERY : OPERATOR.SOME });
      packCondition(packed, operator.condition);
  }
}

function begin(
  blob: BlobWriter,
  { op, flags = 0, count = 0 }: { op: number; flags?: number; count?: number },
): void {
  blob.word(op | (flags << 8) | (count << 16));
  blob.word(0);
}

function packMembership(
  blob: BlobWriter,
  { negated, values, fold }: { negated: boolean; values: Literal[]; fold: boolean },
): void {
  const flags = (negated ? FLAG.NEGATED : 0) | (fold ? FLAG.FOLD : 0);
  begin(blob, { op: OPERATOR.IN, flags, count: values.length });
  for (const value of values) packLiteral(blob, value, fold);
}

/** Four words, in the layout that the runtime gives to the values of a call. */
function packLiteral(blob: BlobWriter, literal: Literal, fold: boolean): void {
  switch (literal.type) {
    case 'number':
      return packNumber(blob, literal.value);
    case 'string': {
      const text = blob.text(fold ? foldAscii(literal.value) : literal.value);
      blob.word(TYPE_NAMES.indexOf('string'));
      blob.ref(text);
      blob.word(text.length);
      return blob.word(0);
    }
    default: {
      const truth = literal.type === 'boolean' && literal.value ? 1 : 0;
      blob.word(TYPE_NAMES.indexOf(literal.type) | (truth << 8));
      for (let index = 0; index < 3; index += 1) blob.word(0);
    }
  }
}

function packNumber(blob: BlobWriter, { negative, digits, exponent }: Decimal): void {
  const text = blob.text(digits);
  blob.word(TYPE_NAMES.indexOf('number') | ((negative ? 1 : 0) << 8));
  blob.ref(text);
  blob.word(text.length);
  blob.word(exponent);
}

function packTexts(
  blob: BlobWriter,
  { op, literals, fold }: { op: keyof typeof TEXT_OPERATORS; literals: string[]; fold: boolean },
): void {
  begin(blob, { op: TEXT_OPERATORS[op], flags: fold ? FLAG.FOLD : 0, count: literals.length });
  for (const literal of literals) {
    const bytes = utf8From(fold ? foldAscii(literal) : literal);
    packSearched(blob, bytes, op === 'contains');
  }
}

function packPattern(
  packed: PackedConditions,
  { pattern, fold }: { pattern: LikePattern; fold: boolean },
): void {
  const { blob } = packed;
  begin(blob, { op: OPERATOR.LIKE, flags: fold ? FLAG.FOLD : 0, count: pattern.length });
  pattern.forEach((part, index) => {
    const bytes = partBytes(part, fold);
    const isInside = index > 0 && index < pattern.length - 1;
    const isWild = part.includes(null);
    if (isInside && isWild) packed.wildBytesMax = Math.max(packed.wildBytesMax, bytes.length);
    packSearched(blob, bytes, isInside && !isWild);
  });
}

/** Three words: address, length and, if the runtime searches for the bytes, their failure table. */
function packSearched(blob: BlobWriter, bytes: Uint8Array, isSearched: boolean): void {
  const ref: PoolRef = blob.bytes(bytes);
  blob.ref(ref);
  blob.word(ref.length);
  // 16-bit numbers in the byte order of the platform; the runtime reads little-endian, as all our platforms are.
  if (isSearched) blob.ref(blob.bytes(new Uint8Array(failureTable(bytes).buffer)));
  else blob.word(0);
}

function partBytes(part: LikePattern[number], fold: boolean): Uint8Array {
  const chunks = part.map((unit) => {
    if (unit === null) return [ANY_BYTE];
    const character = String.fromCodePoint(unit);
    return [...utf8From(fold ? foldAscii(character) : character)];
  });
  return Uint8Array.from(chunks.flat());
}
