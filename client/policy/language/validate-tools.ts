import { TOOL_NAME_BYTES_MAX, TOOLS_MAX } from './limits.ts';
import { utf8Length } from './utf8.ts';
import type { PolicyValidator } from './policy-validator.ts';
import type { YamlNode } from './yaml-node.ts';

/** Validates the list of all tools. Any other tool is denied. */
export function validateTools(validator: PolicyValidator, node: YamlNode): string[] {
  const items = validator.items(node, 'tools', { itemsMax: TOOLS_MAX, mayBeEmpty: true });
  if (items === undefined) return [];
  const read = (item: YamlNode): string | undefined => validateToolName(validator, item);
  const named = validator.distinct(items, read, (name) => `tool ${JSON.stringify(name)}`);
  const names = named.map(({ item }) => item);
  validator.tools = new Map(names.map((name, index) => [name, index]));
  return names;
}

function validateToolName(validator: PolicyValidator, node: YamlNode): string | undefined {
  const name = validator.printable(node, 'a tool name');
  if (name === undefined) return undefined;
  if (name === '*') return validator.refuse(node, '"*" is not a tool name');
  const bytes = utf8Length(name);
  if (bytes >= 1 && bytes <= TOOL_NAME_BYTES_MAX) return name;
  return validator.refuse(node, `a tool name has 1 to ${TOOL_NAME_BYTES_MAX} bytes`);
}

/** Returns the indexes of the listed tools. */
export function validateToolReferences(
  validator: PolicyValidator,
  node: YamlNode,
  options: { what: string; isStarAll?: boolean },
): number[] {
  const undeclared = '"*" stands for every tool in a role only; leave tools out of a rule to mean all';
  const declared = validator.tools;
  return validator.references(node, { kind: 'tool', declared, undeclared, mayBeEmpty: true, ...options });
}
