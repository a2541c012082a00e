import { EXPONENT_MESSAGE } from './validate-hint.ts';
import { decimalFrom, type Decimal } from './decimal.ts';
import { likePatternFrom } from './like-pattern.ts';
import { LITERAL_BYTES_MAX } from './limits.ts';
import type { PolicyValidator } from './policy-validator.ts';
import { TYPE_NAMES } from './policy-ir.ts';
import type { Bound, LikePattern, Literal, Relation, TypeName } from './policy-ir.ts';
import { utf8Length } from './utf8.ts';
import type { YamlNode } from './yaml-node.ts';

const LENGTH_RELATIONS: readonly Relation[] = ['eq', 'lt', 'lte', 'gt', 'gte'];

export function validateNumber(
  validator: PolicyValidator,
  node: YamlNode,
  what: string,
): Decimal | undefined {
  if (node.kind !== 'number') return validator.refuse(node, `${what} must be a number`);
  if (node.source.length > LITERAL_BYTES_MAX) return validator.refuse(node, literalMessage(what));
  return decimalFrom(node.source) ?? validator.refuse(node, EXPONENT_MESSAGE);
}

function validateLiteralText(validator: PolicyValidator, node: YamlNode, what: string): string | undefined {
  const text = validator.text(node, what);
  if (text === undefined || utf8Length(text) <= LITERAL_BYTES_MAX) return text;
  return validator.refuse(node, literalMessage(what));
}

function literalMessage(what: string): string {
  return `${what} has a literal of more than ${LITERAL_BYTES_MAX} bytes`;
}

export function validateScalars(
  validator: PolicyValidator,
  node: YamlNode,
  { what, isList }: { what: string; isList: boolean },
): Literal[] | undefined {
  const items = isList ? validator.items(node, what) : [node];
  return items && allOf(validator, items, { what, read: validateScalar });
}

function validateScalar(validator: PolicyValidator, node: YamlNode, what: string): Literal | undefined {
  switch (node.kind) {
    case 'null':
      return { type: 'null' };
    case 'boolean':
      return { type: 'boolean', value: node.value };
    case 'number': {
      const value = validateNumber(validator, node, what);
      return value && { type: 'number', value };
    }
    case 'text': {
      const value = validateLiteralText(validator, node, what);
      return value === undefined ? undefined : { type: 'string', value };
    }
    default:
      return validator.refuse(node, `${what} compares with text, numbers, true, false or null only`);
  }
}

/** Validates one literal or a list of alternatives. */
export function validateTexts(
  validator: PolicyValidator,
  node: YamlNode,
  what: string,
): string[] | undefined {
  const items = node.kind === 'list' ? validator.items(node, what) : [node];
  const read = (inner: PolicyValidator, item: YamlNode): string | undefined => {
    const text = validateLiteralText(inner, item, what);
    return text === '' && what === 'contains' ? inner.refuse(item, 'contains must not be empty') : text;
  };
  return items && allOf(validator, items, { what, read });
}

export function validateTypes(validator: PolicyValidator, node: YamlNode): TypeName[] | undefined {
  const items = node.kind === 'list' ? validator.items(node, 'type') : [node];
  return items && allOf(validator, items, { what: 'type', read: validateType });
}

function validateType(validator: PolicyValidator, node: YamlNode): TypeName | undefined {
  // A plain null names the type.
  const text = node.kind === 'null' ? 'null' : validator.text(node, 'type');
  if (text === undefined) return undefined;
  const name = TYPE_NAMES.find((type) => type === text);
  return name ?? validator.refuse(node, `type must be one of ${TYPE_NAMES.join(', ')}`);
}

function allOf<Item>(
  validator: PolicyValidator,
  nodes: YamlNode[],
  {
    what,
    read,
  }: { what: string; read: (validator: PolicyValidator, node: YamlNode, what: string) => Item | undefined },
): Item[] {
  const found = validator.distinct(
    nodes,
    (node) => read(validator, node, what),
    () => `item in ${what}`,
  );
  return found.map(({ item }) => item);
}

export function validatePattern(validator: PolicyValidator, node: YamlNode): LikePattern | undefined {
  const text = validateLiteralText(validator, node, 'like');
  if (text === undefined) return undefined;
  return likePatternFrom(text) ?? validator.refuse(node, 'like ends with a "\\" that escapes nothing');
}

export function validateBounds(validator: PolicyValidator, node: YamlNode): Bound[] | undefined {
  const fields = validator.fields(node, 'length', LENGTH_RELATIONS);
  if (fields === undefined) return undefined;
  if (fields.size === 0) return validator.refuse(node, 'length needs eq, lt, lte, gt or gte');
  return LENGTH_RELATIONS.flatMap((relation) => {
    const bound = fields.get(relation);
    const value = bound && validateNumber(validator, bound, `length.${relation}`);
    return value === undefined ? [] : [{ relation, value }];
  });
}
