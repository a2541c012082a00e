// Writes the results that the blob does not hold ready-made. A text in the blob is its length, then its bytes.
import { copyBytes } from './bytes';
import { hasBit } from './decide';
import { heapEnd } from './json';
import {
  EFFECT_DENY,
  FIRED,
  head,
  HINT,
  HINT_BYTES_MAX,
  HINT_PREFIX_BYTES,
  MORE_ROLES,
  ROLE_BYTES,
  ROLE_COUNT,
  ROLE_DENIAL,
  ROLES,
  RULE_APPROVAL,
  RULE_DENIAL,
  VIOLATIONS,
  VIOLATIONS_MAX,
} from './layout';

const COMMA: u8 = 0x2c;
const QUOTE: u8 = 0x22;
const BRACKET: u8 = 0x5d;
const BRACE: u8 = 0x7d;

let result: usize = 0;
let out: usize = 0;

function begin(): void {
  result = (heapEnd() + 7) & ~7;
  out = result + 4;
}

function finish(): usize {
  store<u32>(result, (out - result - 4) as u32);
  return result;
}

function put(from: usize, length: usize): void {
  copyBytes(out, from, length);
  out += length;
}

function putText(text: usize): void {
  put(text + 4, load<u32>(text));
}

function putByte(byte: u8): void {
  store<u8>(out, byte);
  out += 1;
}

/** Writes the result of the `fired` listed rules. The first one with the strongest effect gives reason and hint. */
export function writeRules(fired: u32, approvalViolation: usize): usize {
  const list = head(FIRED);
  const deciding = decidingRule(list, fired);
  begin();
  putText(head(load<u32>(deciding) == EFFECT_DENY ? RULE_DENIAL : RULE_APPROVAL));
  const violation: usize = load<u32>(deciding, 12);
  const skipped: usize = load<u32>(deciding, 16);
  putByte(QUOTE);
  put(violation + 4 + skipped, (load<u32>(violation) as usize) - skipped);
  putText(head(VIOLATIONS));
  writeViolations(list, fired, approvalViolation);
  putText(head(HINT));
  putText(load<u32>(deciding, 20));
  putByte(BRACE);
  return finish();
}

function decidingRule(list: usize, fired: u32): usize {
  for (let index: usize = 0; index < fired; index += 1) {
    const rule: usize = load<u32>(list + (index << 2));
    if (load<u32>(rule) == EFFECT_DENY) return rule;
  }
  return load<u32>(list);
}

function writeViolations(list: usize, fired: u32, approvalViolation: usize): void {
  let written: u32 = 0;
  if (approvalViolation != 0) {
    putText(approvalViolation);
    written = 1;
  }
  for (let index: usize = 0; index < fired && written < VIOLATIONS_MAX; index += 1) {
    if (written > 0) putByte(COMMA);
    putText(load<u32>(load<u32>(list + (index << 2)), 12));
    written += 1;
  }
}

/** Denies by role. The hint lists the roles that may use the tool, as many as fit, then the number of the others. */
export function writeRoleDenial(tool: usize): usize {
  begin();
  putText(head(ROLE_DENIAL));
  const rows = countRoles(tool);
  const roomMax = HINT_BYTES_MAX - (head(HINT_PREFIX_BYTES) as u32) - 2;
  let kept = rows;
  if (roomFor(tool, rows) > roomMax) {
    do kept -= 1;
    while (roomFor(tool, kept) + (load<u32>(head(MORE_ROLES)) as u32) + digits(rows - kept) > roomMax);
  }
  writeRoles(tool, kept);
  putByte(BRACKET);
  if (kept < rows) {
    putText(head(MORE_ROLES));
    writeNumber(rows - kept);
  }
  putByte(BRACE);
  putByte(BRACE);
  return finish();
}

function roleAt(row: usize): usize {
  return head(ROLES) + row * ROLE_BYTES;
}

function mayUse(role: usize, tool: usize): bool {
  return hasBit(load<u32>(role, 12), tool) || hasBit(load<u32>(role, 16), tool);
}

function countRoles(tool: usize): u32 {
  let count: u32 = 0;
  const rows = head(ROLE_COUNT);
  for (let row: usize = 0; row < rows; row += 1) if (mayUse(roleAt(row), tool)) count += 1;
  return count;
}

/** The bytes of the first `kept` names and the commas between them. */
function roomFor(tool: usize, kept: u32): u32 {
  let bytes: u32 = 0;
  let found: u32 = 0;
  for (let row: usize = 0; found < kept; row += 1) {
    const role = roleAt(row);
    if (!mayUse(role, tool)) continue;
    if (found > 0) bytes += 1;
    bytes += load<u32>(load<u32>(role, 8));
    found += 1;
  }
  return bytes;
}

function writeRoles(tool: usize, kept: u32): void {
  let found: u32 = 0;
  for (let row: usize = 0; found < kept; row += 1) {
    const role = roleAt(row);
    if (!mayUse(role, tool)) continue;
    if (found > 0) putByte(COMMA);
    putText(load<u32>(role, 8));
    found += 1;
  }
}

// There are at most 64 roles.
function digits(number: u32): u32 {
  return number < 10 ? 1 : 2;
}

function writeNumber(number: u32): void {
  if (number >= 10) putByte((0x30 + number / 10) as u8);
  putByte((0x30 + (number % 10)) as u8);
}
