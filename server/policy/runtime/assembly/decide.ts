// Decides a call: its tool, its role, then the rules that fire (docs/policy.md, "Decision").
import { compareBytes } from './bytes';
import { conditionHolds } from './conditions';
import {
  APPROVAL_VIOLATION,
  FALLBACK_ROLE,
  FIRED,
  head,
  KEY_ARGUMENTS,
  KEY_ROLE,
  KEY_TOOL,
  RESULT_ALLOW,
  RESULT_APPROVAL,
  RESULT_BAD_CALL,
  RESULT_UNKNOWN_TOOL,
  ROLE_BYTES,
  ROLE_COUNT,
  ROLES,
  RULE_BYTES,
  RULE_WORDS,
  RULES,
  TOOL_BYTES,
  TOOL_COUNT,
  TOOLS,
  TYPE_NULL,
  TYPE_OBJECT,
  TYPE_STRING,
} from './layout';
import { findMember } from './members';
import { clearPathCache } from './paths';
import { writeRoleDenial, writeRules } from './results';

const NONE: usize = 0xffffffff;

/** Decides a parsed call. Returns the address of the result, in the blob or newly written. */
export function decide(call: usize): usize {
  if (load<u8>(call) != TYPE_OBJECT) return head(RESULT_BAD_CALL);
  const tool = callField(call, KEY_TOOL);
  if (tool == 0 || load<u8>(tool) != TYPE_STRING) return head(RESULT_BAD_CALL);
  const role = callField(call, KEY_ROLE);
  if (role != 0 && load<u8>(role) != TYPE_STRING) return head(RESULT_BAD_CALL);
  let args = callField(call, KEY_ARGUMENTS);
  if (args != 0 && load<u8>(args) != TYPE_OBJECT) {
    if (load<u8>(args) != TYPE_NULL) return head(RESULT_BAD_CALL);
    args = 0;
  }
  const toolIndex = findNamed(
    head(TOOLS),
    TOOL_BYTES,
    head(TOOL_COUNT),
    load<u32>(tool, 4),
    load<u32>(tool, 8),
  );
  if (toolIndex == NONE) return head(RESULT_UNKNOWN_TOOL);
  return decideFor(toolIndex, rowOf(role), args);
}

function callField(call: usize, key: usize): usize {
  const name = head(key);
  return findMember(load<u32>(call, 4), load<u32>(call, 8), name + 4, load<u32>(name));
}

/** The row with the role's name, else the fallback row. An absent role is the empty role. */
function rowOf(role: usize): usize {
  const name: usize = role == 0 ? 0 : load<u32>(role, 4);
  const length: usize = role == 0 ? 0 : load<u32>(role, 8);
  const row = findNamed(head(ROLES), ROLE_BYTES, head(ROLE_COUNT), name, length);
  return row == NONE ? head(FALLBACK_ROLE) : row;
}

/** The index of a name in a table sorted by name, or NONE. */
function findNamed(table: usize, entryBytes: usize, count: usize, name: usize, length: usize): usize {
  let low: usize = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >> 1;
    const entry = table + middle * entryBytes;
    const order = compareBytes(load<u32>(entry), load<u32>(entry, 4), name, length);
    if (order == 0) return middle;
    if (order < 0) low = middle + 1;
    else high = middle;
  }
  return NONE;
}

function decideFor(tool: usize, row: usize, args: usize): usize {
  const role = head(ROLES) + row * ROLE_BYTES;
  const approves = row != NONE && hasBit(load<u32>(role, 16), tool);
  if (!approves && (row == NONE || !hasBit(load<u32>(role, 12), tool))) return writeRoleDenial(tool);
  const toolRules: usize = load<u32>(head(TOOLS) + tool * TOOL_BYTES, 8);
  const fired = fireRules(toolRules, load<u32>(role, 20), args);
  if (fired == 0) return head(approves ? RESULT_APPROVAL : RESULT_ALLOW);
  return writeRules(fired, approves ? head(APPROVAL_VIOLATION) : 0);
}

export function hasBit(bits: usize, index: usize): bool {
  return ((load<u32>(bits + ((index >> 5) << 2)) >> ((index & 31) as u32)) & 1) != 0;
}

/** Lists the rules in both bit sets that fire, in policy order. Returns their number. */
function fireRules(toolRules: usize, roleRules: usize, args: usize): u32 {
  clearPathCache();
  const words = head(RULE_WORDS);
  const list = head(FIRED);
  const rules = head(RULES);
  let fired: u32 = 0;
  for (let word: usize = 0; word < words; word += 1) {
    const offset = word << 2;
    let bits = load<u32>(toolRules + offset) & load<u32>(roleRules + offset);
    while (bits != 0) {
      const rule = rules + ((word << 5) + (ctz(bits) as usize)) * RULE_BYTES;
      bits &= bits - 1;
      if (!fires(rule, args)) continue;
      store<u32>(list + ((fired as usize) << 2), rule as u32);
      fired += 1;
    }
  }
  return fired;
}

function fires(rule: usize, args: usize): bool {
  const when: usize = load<u32>(rule, 4);
  if (when != 0 && !conditionHolds(when, args, 0)) return false;
  const required: usize = load<u32>(rule, 8);
  return required == 0 || !conditionHolds(required, args, 0);
}
