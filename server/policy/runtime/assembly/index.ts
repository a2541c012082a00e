// The policy runtime, abi 1 (docs/policy.md, "Module interface"). The packer appends the policy as a data segment.
import { decide } from './decide';
import {
  CALL_BYTES_MAX,
  head,
  INPUT,
  MEMBER_BYTES,
  RESULT_BAD_JSON,
  RESULT_TOO_LARGE,
  TAIL_BYTES,
} from './layout';
import { readJson, valuesMax } from './json';

const PAGE_BITS: usize = 16;
// Room for wide reads past the end of the input, where a zero byte stops the reader.
const INPUT_SLACK: usize = 16;

export function abi_version(): i32 {
  return 1;
}

/** Returns the address of the input buffer, or 0 if `length` is above the limit. The address never changes. */
export function alloc(length: u32): usize {
  if (length > CALL_BYTES_MAX || !growTo(memoryFor(length))) return 0;
  return head(INPUT);
}

/** Decides the call at `pointer`. Returns the address of the result: its length, then its text. */
export function evaluate(pointer: usize, length: u32): usize {
  if (length > CALL_BYTES_MAX) return head(RESULT_TOO_LARGE);
  if (pointer != head(INPUT) || !growTo(memoryFor(length))) unreachable();
  const end = pointer + length;
  store<u64>(end, 0);
  const call = readJson(pointer, end, stackFor(length));
  return call == 0 ? head(RESULT_BAD_JSON) : decide(call);
}

function stackFor(length: u32): usize {
  return (head(INPUT) + length + INPUT_SLACK + 7) & ~7;
}

/** Stack and heap each have room for every value. The tail holds what is written after them. */
function memoryFor(length: u32): usize {
  return stackFor(length) + 2 * MEMBER_BYTES * valuesMax(length) + head(TAIL_BYTES);
}

function growTo(bytes: usize): bool {
  const pages = ((bytes + 0xffff) >> PAGE_BITS) as i32;
  const held = memory.size();
  return pages <= held || memory.grow(pages - held) >= 0;
}
