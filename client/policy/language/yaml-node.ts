/** A node of a policy text with its offset, independent of the YAML parser. */
export type YamlNode =
  | { kind: 'map'; at: number; entries: YamlEntry[] }
  | { kind: 'list'; at: number; items: YamlNode[] }
  | { kind: 'text'; at: number; value: string }
  | { kind: 'number'; at: number; source: string }
  | { kind: 'boolean'; at: number; value: boolean }
  | { kind: 'null'; at: number }
  // Its fault is reported already.
  | { kind: 'refused'; at: number };

export type YamlEntry = { key: string; at: number; value: YamlNode };

export type YamlMap = Extract<YamlNode, { kind: 'map' }>;
