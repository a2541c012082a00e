import { LIST_ITEMS_MAX } from './limits.ts';
import type { FaultList } from './policy-fault.ts';
import type { YamlMap, YamlNode } from './yaml-node.ts';

// C0, DEL and C1.
const CONTROL = /\p{Cc}/u;

export type Fields = ReadonlyMap<string, YamlNode>;

type References = {
  kind: 'tool' | 'role';
  what: string;
  declared: ReadonlyMap<string, number> | undefined;
  /** Whether "*" stands for everything that is declared. */
  isStarAll?: boolean;
  /** The fault for a "*" that is neither declared nor allowed. */
  undeclared: string;
  mayBeEmpty?: boolean;
};

/** The state of one validation: what is declared so far, and readers for all kinds of nodes. */
export class PolicyValidator {
  readonly faults: FaultList;
  /** Undefined until a valid list of tools is read; then no tool is reported as undeclared. */
  tools: ReadonlyMap<string, number> | undefined;
  roles: ReadonlyMap<string, number> | undefined;
  conditionCount = 0;

  constructor(faults: FaultList) {
    this.faults = faults;
  }

  /** The values of a mapping by key. Reports unknown keys. */
  fields(node: YamlNode, what: string, known: readonly string[]): Fields | undefined {
    const map = this.map(node, what);
    if (map === undefined) return undefined;
    for (const { key, at } of map.entries) {
      if (!known.includes(key)) this.faults.add(at, `unknown key ${JSON.stringify(key)} in ${what}`);
    }
    return new Map(map.entries.map(({ key, value }) => [key, value]));
  }

  map(node: YamlNode, what: string): YamlMap | undefined {
    return node.kind === 'map' ? node : this.refuse(node, `${what} must be a mapping`);
  }

  required(fields: Fields, key: string, owner: { at: number; what: string }): YamlNode | undefined {
    const node = fields.get(key);
    if (node === undefined) this.faults.add(owner.at, `${owner.what} needs "${key}"`);
    return node;
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

  /** A text without control characters. */
  printable(node: YamlNode, what: string): string | undefined {
    const text = this.text(node, what);
    if (text === undefined || !CONTROL.test(text)) return text;
    return this.refuse(node, `${what} must not have control characters, line breaks among them`);
  }

  boolean(node: YamlNode, what: string): boolean | undefined {
    return node.kind === 'boolean' ? node.value : this.refuse(node, `${what} must be true or false`);
  }

  /** Reads the items; omits those that read as undefined and reports those that repeat an earlier one. */
  distinct<Item>(
    nodes: readonly YamlNode[],
    read: (node: YamlNode) => Item | undefined,
    show: (item: Item) => string,
  ): { at: number; item: Item }[] {
    const seen = new Set<string>();
    return nodes.flatMap((node) => {
      const item = read(node);
      if (item === undefined) return [];
      const id = JSON.stringify(item);
      if (seen.has(id)) this.faults.add(node.at, `duplicate ${show(item)}`);
      seen.add(id);
      return [{ at: node.at, item }];
    });
  }

  /** The indexes of the named items, in order; reports names that are not declared. */
  references(
    node: YamlNode,
    { kind, what, declared, isStarAll, undeclared, mayBeEmpty = false }: References,
  ): number[] {
    const items = this.items(node, what, { mayBeEmpty }) ?? [];
    const read = (item: YamlNode): string | undefined => this.text(item, `a ${kind} in ${what}`);
    const named = this.distinct(items, read, (name) => `${kind} ${JSON.stringify(name)} in ${what}`);
    if (declared === undefined) return [];
    const indexes = named.flatMap(({ at, item }) => {
      if (item === '*' && isStarAll) return [...declared.values()];
      const index = declared.get(item);
      if (index !== undefined) return [index];
      const name = JSON.stringify(item);
      this.faults.add(at, item === '*' ? undeclared : `${kind} ${name} is not declared in ${kind}s`);
      return [];
    });
    return [...new Set(indexes)].sort((a, b) => a - b);
  }

  refuse(node: YamlNode, message: string): undefined {
    if (node.kind !== 'refused') this.faults.add(node.at, message);
    return undefined;
  }
}

export function hasControlCharacter(text: string): boolean {
  return CONTROL.test(text);
}
