import { exponentMessage } from './check-hint.ts';
import { decimalFrom } from './decimal.ts';
import type { Decimal } from './decimal.ts';
import { likePatternFrom } from './like-pattern.ts';
import { LITERAL_BYTES_MAX } from './limits.ts';
import { reportDuplicates } from './policy-check.ts';
import type { PolicyCheck } from './policy-check.ts';
import { TYPE_NAMES } from './policy-ir.ts';
import type { Bound, LikePattern, Literal, Relation, TypeName } from './policy-ir.ts';
import { utf8Length } from './utf8.ts';
import type { YamlNode } from './yaml-node.ts';

const LENGTH_RELATIONS: readonly Relation[] = ['eq', 'lt', 'lte', 'gt', 'gte'];

export function checkNumber(check: PolicyCheck, node: YamlNode, what: string): Decimal | undefined {
  if (node.kind !== 'number') return check.refuse(node, `${what} must be a number`);
  if (node.source.length > LITERAL_BYTES_MAX) return check.refuse(node, literalMessage(what));
  return decimalFrom(node.source) ?? check.refuse(node, exponentMessage());
}

function checkLiteralText(check: PolicyCheck, node: YamlNode, what: string): string | undefined {
  const text = check.text(node, what);
  if (text === undefined || utf8Length(text) <= LITERAL_BYTES_MAX) return text;
  return check.refuse(node, literalMessage(what));
}

function literalMessage(what: string): string {
  return `${what} has a literal of more than ${LITERAL_BYTES_MAX} bytes`;
}

export function checkScalars(
  check: PolicyCheck,
  node: YamlNode,
  { what, isList }: { what: string; isList: boolean },
): Literal[] | undefined {
  const items = isList ? check.items(node, what) : [node];
  return items && allOf(check, items, { what, read: checkScalar });
}

function checkScalar(check: PolicyCheck, node: YamlNode, what: string): Literal | undefined {
  switch (node.kind) {
    case 'null':
      return { type: 'null' };
    case 'boolean':
      return { type: 'boolean', value: node.value };
    case 'number': {
      const value = checkNumber(check, node, what);
      return value && { type: 'number', value };
    }
    case 'text': {
      const value = checkLiteralText(check, node, what);
      return value === undefined ? undefined : { type: 'string', value };
    }
    default:
      return check.refuse(node, `${what} compares with text, numbers, true, false or null only`);
  }
}

/** One literal or a list of them, any of which may match. */
export function checkTexts(check: PolicyCheck, node: YamlNode, what: string): string[] | undefined {
  const items = node.kind === 'list' ? check.items(node, what) : [node];
  const read = (inner: PolicyCheck, item: YamlNode): string | undefined => {
    const text = checkLiteralText(inner, item, what);
    return text === '' && what === 'contains' ? inner.refuse(item, 'contains must not be empty') : text;
  };
  return items && allOf(check, items, { what, read });
}

export function checkTypes(check: PolicyCheck, node: YamlNode): TypeName[] | undefined {
  const items = node.kind === 'list' ? check.items(node, 'type') : [node];
  return items && allOf(check, items, { what: 'type', read: checkType });
}

function checkType(check: PolicyCheck, node: YamlNode): TypeName | undefined {
  // POLICY 1: a plain null names the type.
  const text = node.kind === 'null' ? 'null' : check.text(node, 'type');
  if (text === undefined) return undefined;
  const name = TYPE_NAMES.find((type) => type === text);
  return name ?? check.refuse(node, `type must be one of ${TYPE_NAMES.join(', ')}`);
}

function allOf<Item>(
  check: PolicyCheck,
  nodes: YamlNode[],
  {
    what,
    read,
  }: { what: string; read: (check: PolicyCheck, node: YamlNode, what: string) => Item | undefined },
): Item[] {
  const found = nodes.flatMap((node) => {
    const item = read(check, node, what);
    return item === undefined
      ? []
      : [{ at: node.at, item, id: JSON.stringify(item), shown: `item in ${what}` }];
  });
  reportDuplicates(check, found);
  return found.map(({ item }) => item);
}

export function checkPattern(check: PolicyCheck, node: YamlNode): LikePattern | undefined {
  const text = checkLiteralText(check, node, 'like');
  if (text === undefined) return undefined;
  return likePatternFrom(text) ?? check.refuse(node, 'like ends with a "\\" that escapes nothing');
}

export function checkBounds(check: PolicyCheck, node: YamlNode): Bound[] | undefined {
  const fields = check.fields(node, 'length', LENGTH_RELATIONS);
  if (fields === undefined) return undefined;
  if (fields.size === 0) return check.refuse(node, 'length needs eq, lt, lte, gt or gte');
  return LENGTH_RELATIONS.flatMap((relation) => {
    const entry = fields.get(relation);
    const value = entry && checkNumber(check, entry.value, `length.${relation}`);
    return value === undefined ? [] : [{ relation, value }];
  });
}
