import { isAlias, isMap, isScalar, type ParsedNode, type Scalar } from 'yaml';
import { isJsonNumber } from './decimal.ts';
import { YAML_DEPTH_MAX } from './limits.ts';
import type { FaultList } from './policy-fault.ts';
import type { YamlEntry, YamlNode } from './yaml-node.ts';

type ParsedPair = { key: ParsedNode; value: ParsedNode | null };

/** Converts the parser's tree to ours; reports duplicate keys, empty values and numbers that are not JSON. */
export class YamlNodeReader {
  readonly #faults: FaultList;

  constructor(faults: FaultList) {
    this.#faults = faults;
  }

  readRoot(contents: ParsedNode | null): YamlNode | undefined {
    if (contents !== null && !isEmpty(contents)) return this.#read(contents, 1);
    this.#faults.add(contents?.range[0] ?? 0, 'the policy is empty');
    return undefined;
  }

  #read(node: ParsedNode, depth: number): YamlNode {
    const at = node.range[0];
    if (isAlias(node)) return { kind: 'refused', at };
    if (isScalar(node)) return this.#readScalar(node, at);
    if (depth > YAML_DEPTH_MAX) return this.#refuse(at, `nested deeper than ${YAML_DEPTH_MAX} levels`);
    if (isMap(node)) return { kind: 'map', at, entries: this.#readPairs(node.items, depth) };
    return { kind: 'list', at, items: node.items.map((item) => this.#readItem(item, depth)) };
  }

  #readItem(node: ParsedNode, depth: number): YamlNode {
    return isEmpty(node) ? this.#refuse(node.range[0], 'a list item is empty') : this.#read(node, depth + 1);
  }

  #readPairs(pairs: ParsedPair[], depth: number): YamlEntry[] {
    const entries: YamlEntry[] = [];
    const seen = new Set<string>();
    for (const pair of pairs) {
      const at = pair.key.range[0];
      const key = this.#readKey(pair.key, depth);
      const value = this.#readValue(pair, key, depth);
      if (key === undefined) continue;
      if (seen.has(key)) this.#faults.add(at, `duplicate key ${JSON.stringify(key)}`);
      seen.add(key);
      entries.push({ key, at, value });
    }
    return entries;
  }

  #readKey(node: ParsedNode, depth: number): string | undefined {
    const at = node.range[0];
    const key: YamlNode = isEmpty(node) ? this.#refuse(at, 'a key is empty') : this.#read(node, depth + 1);
    if (key.kind === 'text') return key.value;
    if (key.kind !== 'refused') this.#faults.add(at, 'a key must be text; quote it');
    return undefined;
  }

  #readValue({ key, value }: ParsedPair, name: string | undefined, depth: number): YamlNode {
    if (value !== null && !isEmpty(value)) return this.#read(value, depth + 1);
    return name === undefined
      ? { kind: 'refused', at: key.range[0] }
      : this.#refuse(key.range[0], `${JSON.stringify(name)} has no value`);
  }

  #readScalar(node: Scalar, at: number): YamlNode {
    const value = String(node.value);
    if (!value.isWellFormed()) return this.#refuse(at, 'lone surrogates are not allowed');
    return node.type === 'PLAIN' ? plainScalarFrom(value, at, this.#faults) : { kind: 'text', at, value };
  }

  #refuse(at: number, message: string): YamlNode {
    this.#faults.add(at, message);
    return { kind: 'refused', at };
  }
}

function isEmpty(node: ParsedNode): boolean {
  return isScalar(node) && node.type === 'PLAIN' && node.source === '';
}

const NULL = /^(?:null|Null|NULL|~)$/;
const TRUE = /^(?:true|True|TRUE)$/;
const FALSE = /^(?:false|False|FALSE)$/;
// A number in YAML's core schema.
const CORE_NUMBER =
  /^(?:0o[0-7]+|0x[0-9a-fA-F]+|[-+]?[0-9]+|[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/;

/** Interprets a plain scalar by YAML's core schema. Numbers keep their source, so that no digit is lost. */
function plainScalarFrom(source: string, at: number, faults: FaultList): YamlNode {
  if (isJsonNumber(source)) return { kind: 'number', at, source };
  if (NULL.test(source)) return { kind: 'null', at };
  if (TRUE.test(source)) return { kind: 'boolean', at, value: true };
  if (FALSE.test(source)) return { kind: 'boolean', at, value: false };
  if (!CORE_NUMBER.test(source)) return { kind: 'text', at, value: source };
  faults.add(at, `numbers are written as in JSON; ${source.slice(0, 40)} is not`);
  return { kind: 'refused', at };
}
