import type { Decimal } from './decimal.ts';

/** The validated policy that both engines run. Tools and roles are referenced by index. */
export type PolicyIr = {
  agent: string | null;
  description: string | null;
  tools: string[];
  roles: RoleRow[];
  rules: Rule[];
};

/** A tool in both lists of the policy is in `approve` only. */
export type RoleRow = { name: string; allow: number[]; approve: number[] };

export type Effect = 'deny' | 'needs_approval';

/** `tools` and `roles` are null for every tool and every role. */
export type Rule = {
  id: string;
  tools: number[] | null;
  roles: number[] | null;
  when: Condition | null;
  require: Condition | null;
  effect: Effect;
  reason: string;
  /** The JSON text in the decision; numbers keep their spelling. */
  hintText: string;
};

export type Condition =
  | { kind: 'all' | 'any'; conditions: Condition[] }
  | { kind: 'not'; condition: Condition }
  | { kind: 'test'; base: PathBase; path: PathStep[]; operators: Operator[] };

/** Where a path starts: at the arguments, or inside every/some at the element. */
export type PathBase = 'arguments' | 'element';

/** A name selects a member of an object, an index an item of an array. */
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

/** The parts of a pattern between its `*`; a single part means that it has no `*`. */
export type LikePattern = LikeUnit[][];

/** `fold` is ignore_case. */
export type Operator =
  | { op: 'exists'; present: boolean }
  | { op: 'type'; types: TypeName[] }
  | { op: 'in'; negated: boolean; values: Literal[]; fold: boolean }
  | { op: 'compare'; bound: Bound }
  | { op: 'starts_with' | 'ends_with' | 'contains'; literals: string[]; fold: boolean }
  | { op: 'like'; pattern: LikePattern; fold: boolean }
  | { op: 'length'; bounds: Bound[] }
  | { op: 'every' | 'some'; condition: Condition };
