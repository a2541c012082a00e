import { LIST_ITEMS_MAX } from './limits.ts';
import type { FaultList } from './policy-fault.ts';
import type { YamlEntry, YamlMap, YamlNode } from './yaml-node.ts';

// Every control character of Unicode: C0, DEL and C1.
const CONTROL = /\p{Cc}/u;

export type Fields = ReadonlyMap<string, YamlEntry>;

/** The state of one check: what was declared so far, and the small readers that every part uses. */
export class PolicyValidator {
  readonly faults: FaultList;
  /** Undefined while the policy has no readable list of tools: then no tool can be called undeclared. */
  tools: ReadonlyMap<string, number> | undefined;
  roles: ReadonlyMap<string, number> | undefined;
  conditionCount = 0;

  constructor(faults: FaultList) {
    this.faults = faults;
  }

  /** The entries of a mapping by key; keys outside `known` are faults. */
  fields(node: YamlNode, what: string, known: readonly string[]): Fields | undefined {
    const map = this.map(node, what);
    if (map === undefined) return undefined;
    for (const { key, at } of map.entries) {
      if (!known.includes(key)) this.faults.add(at, `unknown key ${JSON.stringify(key)} in ${what}`);
    }
    return new Map(map.entries.map((entry) => [entry.key, entry]));
  }

  map(node: YamlNode, what: string): YamlMap | undefined {
    return node.kind === 'map' ? node : this.refuse(node, `${what} must be a mapping`);
  }

  required(fields: Fields, key: string, owner: { at: number; what: string }): YamlNode | undefined {
    const entry = fields.get(key);
    if (entry === undefined) this.faults.add(owner.at, `${owner.what} needs "${key}"`);
    return entry?.value;
  }

  items(
    node: YamlNode,
    what: string,
    { itemsMax = LIST_ITEMS_MAX, mayBeEmpty = false } = {},
  ): YamlNode[] | undefined {
    if (node.kind !== 'list') return this.refuse(node, `${what} must be a list`);
    if (node.items.length === 0 && !mayBeEmpty) return this.refuse(node, `${what} must not be empty`);
    const beyond = node.items[itemsMax];
    if (beyond === undefined) return node.items;
    this.faults.add(beyond.at, `${what} has more than ${itemsMax} items`);
    return node.items.slice(0, itemsMax);
  }

  text(node: YamlNode, what: string): string | undefined {
    return node.kind === 'text' ? node.value : this.refuse(node, `${what} must be text`);
  }

  /** A name or a text that people read: no control characters. */
  printable(node: YamlNode, what: string): string | undefined {
    const text = this.text(node, what);
    if (text === undefined || !CONTROL.test(text)) return text;
    return this.refuse(node, `${what} must not have control characters, line breaks among them`);
  }

  boolean(node: YamlNode, what: string): boolean | undefined {
    return node.kind === 'boolean' ? node.value : this.refuse(node, `${what} must be true or false`);
  }

  refuse(node: YamlNode, message: string): undefined {
    if (node.kind !== 'refused') this.faults.add(node.at, message);
    return undefined;
  }
}

export function hasControlCharacter(text: string): boolean {
  return CONTROL.test(text);
}

/** Reports every item that repeats an earlier one. */
export function reportDuplicates(
  validator: PolicyValidator,
  items: Iterable<{ at: number; id: string; shown: string }>,
): void {
  const seen = new Set<string>();
  for (const { at, id, shown } of items) {
    if (seen.has(id)) validator.faults.add(at, `duplicate ${shown}`);
    seen.add(id);
  }
}
