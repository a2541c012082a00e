// All limits of the language and of a decision (docs/policy.md, "Limits").

export const POLICY_TEXT_BYTES_MAX = 64 * 1024;
export const TOOLS_MAX = 256;
export const ROLES_MAX = 64;
export const RULES_MAX = 256;
export const CONDITIONS_MAX = 2_000;
export const CONDITION_DEPTH_MAX = 12;
export const LIST_ITEMS_MAX = 256;
export const LITERAL_BYTES_MAX = 1_024;
export const PATH_STEPS_MAX = 16;
export const TOOL_NAME_BYTES_MAX = 128;
export const RULE_ID_LENGTH_MAX = 64;
/** In code points. */
export const ROLE_NAME_LENGTH_MAX = 100;
/** In code points. */
export const AGENT_NAME_LENGTH_MAX = 200;
export const REASON_BYTES_MAX = 300;
export const HINT_BYTES_MAX = 4 * 1024;

/** 12 nested conditions, each a mapping in a list, and room for hints. */
export const YAML_DEPTH_MAX = 64;

/** A hostile text can have tens of thousands of faults. */
export const FAULTS_MAX = 1_000;

export const CALL_BYTES_MAX = 256 * 1024;
export const CALL_DEPTH_MAX = 64;
export const CALL_VALUES_MAX = 65_536;
/** Values read while a call is written. Each takes a byte of JSON at least, unless JSON omits it. */
export const CALL_LOOKS_MAX = CALL_BYTES_MAX;
/** A decimal digit has less than four bits: a longer BigInt has more digits than a call may have bytes. */
export const BIGINT_BITS_MAX = CALL_BYTES_MAX * 4;
export const EXPONENT_DIGITS_MAX = 6;

/** Ingest accepts at most 100 violations. */
export const VIOLATIONS_MAX = 100;
