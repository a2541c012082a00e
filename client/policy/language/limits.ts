/** POLICY 1 and 2: every bound of the language and of a decision, with its unit last. */
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
/** In code points, as ingest counts a role. */
export const ROLE_NAME_LENGTH_MAX = 100;
/** In code points, as an agent's name is bounded. */
export const AGENT_NAME_LENGTH_MAX = 200;
export const REASON_BYTES_MAX = 300;
export const HINT_BYTES_MAX = 4 * 1024;

/** A legal policy nests 12 conditions, each a mapping in a list; the rest is room for hints. */
export const YAML_DEPTH_MAX = 64;

/** No policy that somebody wrote has so many; a hostile text has tens of thousands. */
export const FAULTS_MAX = 1_000;

export const CALL_BYTES_MAX = 256 * 1024;
export const CALL_DEPTH_MAX = 64;
export const CALL_VALUES_MAX = 65_536;
/** Values looked at while a call is written: each takes a byte, but for those that JSON leaves out. */
export const CALL_LOOKS_MAX = CALL_BYTES_MAX;
/** A decimal digit is less than four bits, so a longer BigInt has more digits than a call has bytes. */
export const BIGINT_BITS_MAX = CALL_BYTES_MAX * 4;
export const EXPONENT_DIGITS_MAX = 6;

/** Ingest takes at most 100 violations, so a decision carries the first 100. */
export const VIOLATIONS_MAX = 100;
