import { TOOL_NAME_BYTES_MAX, TOOLS_MAX } from './limits.ts';
import { utf8Length } from './utf8.ts';
import { reportDuplicates } from './policy-validator.ts';
import type { PolicyValidator } from './policy-validator.ts';
import type { YamlNode } from './yaml-node.ts';

/** The universe of tools: what it leaves out is denied by absence. */
export function validateTools(validator: PolicyValidator, node: YamlNode): string[] {
  const items = validator.items(node, 'tools', { itemsMax: TOOLS_MAX, mayBeEmpty: true });
  if (items === undefined) return [];
  const named = items.flatMap((item) => {
    const name = validateToolName(validator, item);
    return name === undefined ? [] : [{ at: item.at, id: name, shown: `tool ${JSON.stringify(name)}` }];
  });
  reportDuplicates(validator, named);
  const names = named.map(({ id }) => id);
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

/** A list of declared tools -> their indexes; with `all`, "*" stands for every tool. */
export function validateToolReferences(
  validator: PolicyValidator,
  node: YamlNode,
  { what, star }: { what: string; star: 'all' | 'refused' },
): number[] | undefined {
  const items = validator.items(node, what, { mayBeEmpty: true });
  if (items === undefined) return undefined;
  const named = items.flatMap((item) => {
    const name = validator.text(item, `a tool in ${what}`);
    return name === undefined
      ? []
      : [{ at: item.at, id: name, shown: `tool ${JSON.stringify(name)} in ${what}` }];
  });
  reportDuplicates(validator, named);
  const declared = validator.tools;
  if (declared === undefined) return [];
  const indexes = named.flatMap(({ at, id }) => {
    if (id === '*' && star === 'all') return [...declared.values()];
    const index = declared.get(id);
    if (index === undefined) validator.faults.add(at, undeclaredMessage(id));
    return index === undefined ? [] : [index];
  });
  return [...new Set(indexes)].sort((a, b) => a - b);
}

function undeclaredMessage(name: string): string {
  return name === '*'
    ? '"*" stands for every tool in a role only; leave tools out of a rule to mean all'
    : `tool ${JSON.stringify(name)} is not declared in tools`;
}
