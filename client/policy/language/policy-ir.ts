import type { Decimal } from './decimal.ts';

/** The checked policy that both engines run. Tools and roles are named by their index. */
export type PolicyIr = {
  agent: string | null;
  description: string | null;
  tools: string[];
  roles: RoleRow[];
  rules: Rule[];
};

/** A tool named in both lists of a row stands in `approve` only: approve beats allow. */
export type RoleRow = { name: string; allow: number[]; approve: number[] };

export type Effect = 'deny' | 'needs_approval';

/** `tools` and `roles` null: every tool, every row. */
export type Rule = {
  id: string;
  tools: number[] | null;
  roles: number[] | null;
  when: Condition | null;
  require: Condition | null;
  effect: Effect;
  reason: string;
  /** The exact JSON text a decision carries, numbers as they were written. */
  hintText: string;
};

export type Condition =
  | { kind: 'all' | 'any'; conditions: Condition[] }
  | { kind: 'not'; condition: Condition }
  | { kind: 'test'; base: PathBase; path: PathStep[]; operators: Operator[] };

/** Where a path starts: at the arguments, or at the element that every/some looks at. */
export type PathBase = 'arguments' | 'element';

/** A name opens objects only, an index arrays only. */
export type PathStep = string | number;

export const TYPE_NAMES = ['null', 'boolean', 'number', 'string', 'array', 'object'] as const;
export type TypeName = (typeof TYPE_NAMES)[number];

export type Relation = 'eq' | 'lt' | 'lte' | 'gt' | 'gte';

export type Literal =
  | { type: 'null' }
  | { type: 'boolean'; value: boolean }
  | { type: 'number'; value: Decimal }
  | { type: 'string'; value: string };

export type Bound = { relation: Relation; value: Decimal };

/** One code point, or null for `?`. */
export type LikeUnit = number | null;

/** The parts of a pattern between its `*`: one part means no `*` at all. */
export type LikePattern = LikeUnit[][];

/** `fold` is ignore_case: ASCII letters only. */
export type Operator =
  | { op: 'exists'; present: boolean }
  | { op: 'type'; types: TypeName[] }
  | { op: 'in'; negated: boolean; values: Literal[]; fold: boolean }
  | { op: 'compare'; bound: Bound }
  | { op: 'starts_with' | 'ends_with' | 'contains'; literals: string[]; fold: boolean }
  | { op: 'like'; pattern: LikePattern; fold: boolean }
  | { op: 'length'; bounds: Bound[] }
  | { op: 'every' | 'some'; condition: Condition };
