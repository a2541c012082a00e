/**
 * Where the runtime finds the parts of a policy. runtime/assembly/layout.ts holds the same numbers; a test compares the
 * two. Offsets are those of words in the head.
 */
export const BLOB_ADDRESS = 1024;

export const HEAD = {
  TOOL_COUNT: 0,
  TOOLS: 4,
  ROLE_COUNT: 8,
  ROLES: 12,
  FALLBACK_ROLE: 16,
  RULE_WORDS: 20,
  RULES: 24,
  PATH_COUNT: 28,
  PATHS: 32,
  PATH_CACHE: 36,
  FIRED: 40,
  INPUT: 44,
  TAIL_BYTES: 48,
  KEY_TOOL: 52,
  KEY_ROLE: 56,
  KEY_ARGUMENTS: 60,
  RESULT_TOO_LARGE: 64,
  RESULT_BAD_JSON: 68,
  RESULT_BAD_CALL: 72,
  RESULT_UNKNOWN_TOOL: 76,
  RESULT_ALLOW: 80,
  RESULT_APPROVAL: 84,
  ROLE_DENIAL: 88,
  MORE_ROLES: 92,
  RULE_DENIAL: 96,
  RULE_APPROVAL: 100,
  VIOLATIONS: 104,
  APPROVAL_VIOLATION: 108,
  HINT: 112,
  HINT_PREFIX_BYTES: 116,
} as const;

export const HEAD_WORDS = 30;

export const NODE = { ALL: 1, ANY: 2, NOT: 3, ARGUMENT_TEST: 4, ELEMENT_TEST: 5 } as const;

export const OPERATOR = {
  EXISTS: 1,
  TYPE: 2,
  IN: 3,
  COMPARE: 4,
  STARTS_WITH: 5,
  ENDS_WITH: 6,
  CONTAINS: 7,
  LIKE: 8,
  LENGTH: 9,
  EVERY: 10,
  SOME: 11,
} as const;

export const FLAG = { FOLD: 1, NEGATED: 2, PRESENT: 4 } as const;

export const RELATION = { EQ: 0, LT: 1, LTE: 2, GT: 3, GTE: 4 } as const;

export const EFFECT_DENY = 1;

/** Set in the first word of a path step that is an index; otherwise that word is the length of the name. */
export const INDEX_BIT = 0x8000_0000;

/** Represents `?` in a part of a pattern: UTF-8 never contains this byte. */
export const ANY_BYTE = 0xff;

/** The policy has no fallback role. */
export const NO_ROW = 0xffff_ffff;
