// Where the packer puts the policy and its parts. blob-layout.ts holds the same numbers for the packer; a test
// compares the two. Every address in a blob is absolute.

export const BLOB: usize = 1024;

export const TOOL_COUNT: usize = 0;
export const TOOLS: usize = 4;
export const ROLE_COUNT: usize = 8;
export const ROLES: usize = 12;
export const FALLBACK_ROLE: usize = 16;
export const RULE_WORDS: usize = 20;
export const RULES: usize = 24;
export const PATH_COUNT: usize = 28;
export const PATHS: usize = 32;
export const PATH_CACHE: usize = 36;
export const FIRED: usize = 40;
export const INPUT: usize = 44;
export const TAIL_BYTES: usize = 48;
export const KEY_TOOL: usize = 52;
export const KEY_ROLE: usize = 56;
export const KEY_ARGUMENTS: usize = 60;
export const RESULT_TOO_LARGE: usize = 64;
export const RESULT_BAD_JSON: usize = 68;
export const RESULT_BAD_CALL: usize = 72;
export const RESULT_UNKNOWN_TOOL: usize = 76;
export const RESULT_ALLOW: usize = 80;
export const RESULT_APPROVAL: usize = 84;
export const ROLE_DENIAL: usize = 88;
export const MORE_ROLES: usize = 92;
export const RULE_DENIAL: usize = 96;
export const RULE_APPROVAL: usize = 100;
export const VIOLATIONS: usize = 104;
export const APPROVAL_VIOLATION: usize = 108;
export const HINT: usize = 112;
export const HINT_PREFIX_BYTES: usize = 116;

// A tool: name, its length, the bits of its rules.
export const TOOL_BYTES: usize = 12;
// A role: name, its length, its JSON text, bits of the allowed and of the approval tools, bits of its rules.
export const ROLE_BYTES: usize = 24;
// A rule: effect, when, require, violation text, offset of the reason in it, hint text.
export const RULE_BYTES: usize = 24;
export const EFFECT_DENY: u32 = 1;

export const NODE_ALL: u8 = 1;
export const NODE_ANY: u8 = 2;
export const NODE_NOT: u8 = 3;
export const NODE_ARGUMENT_TEST: u8 = 4;
export const NODE_ELEMENT_TEST: u8 = 5;

export const OPERATOR_EXISTS: u8 = 1;
export const OPERATOR_TYPE: u8 = 2;
export const OPERATOR_IN: u8 = 3;
export const OPERATOR_COMPARE: u8 = 4;
export const OPERATOR_STARTS_WITH: u8 = 5;
export const OPERATOR_ENDS_WITH: u8 = 6;
export const OPERATOR_CONTAINS: u8 = 7;
export const OPERATOR_LIKE: u8 = 8;
export const OPERATOR_LENGTH: u8 = 9;
export const OPERATOR_EVERY: u8 = 10;
export const OPERATOR_SOME: u8 = 11;

export const FLAG_FOLD: u32 = 1;
export const FLAG_NEGATED: u32 = 2;
export const FLAG_PRESENT: u32 = 4;

export const RELATION_EQ: u32 = 0;
export const RELATION_LT: u32 = 1;
export const RELATION_LTE: u32 = 2;
export const RELATION_GT: u32 = 3;
export const RELATION_GTE: u32 = 4;

// A value, in a call or in a policy: type with sign or truth value, then address, length and exponent.
export const VALUE_BYTES: usize = 16;
// A member of an object: key, its length, its value.
export const MEMBER_BYTES: usize = 24;
export const TYPE_NULL: u32 = 0;
export const TYPE_BOOLEAN: u32 = 1;
export const TYPE_NUMBER: u32 = 2;
export const TYPE_STRING: u32 = 3;
export const TYPE_ARRAY: u32 = 4;
export const TYPE_OBJECT: u32 = 5;

export const CALL_BYTES_MAX: u32 = 262144;
export const CALL_DEPTH_MAX: i32 = 64;
export const CALL_VALUES_MAX: u32 = 65536;
export const VIOLATIONS_MAX: u32 = 100;
export const HINT_BYTES_MAX: u32 = 4096;

/** A word of the blob's head: a count, or the address of a part. */
export function head(offset: usize): usize {
  return load<u32>(BLOB + offset);
}
