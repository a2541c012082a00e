// The members of an object. Many members are sorted, so that look-ups and the search for duplicate keys stay fast on a
// hostile call; a hash table could be attacked with collisions.
import { compareBytes, equalBytes } from './bytes';
import { MEMBER_BYTES } from './layout';

const UNSORTED_MAX: usize = 8;

/** Prepares members for findMember. False if a key occurs twice. */
export function sealMembers(members: usize, count: usize): bool {
  if (count <= UNSORTED_MAX) return areUnique(members, count);
  sort(members, count);
  for (let index: usize = 1; index < count; index += 1) {
    const member = members + index * MEMBER_BYTES;
    if (compareKeys(member - MEMBER_BYTES, member) == 0) return false;
  }
  return true;
}

function areUnique(members: usize, count: usize): bool {
  const end = members + count * MEMBER_BYTES;
  for (let member = members; member < end; member += MEMBER_BYTES) {
    const length = load<u32>(member, 4);
    for (let other = members; other < member; other += MEMBER_BYTES) {
      if (load<u32>(other, 4) == length && equalBytes(load<u32>(other), load<u32>(member), length))
        return false;
    }
  }
  return true;
}

/** The address of a member's value, or 0. */
export function findMember(members: usize, count: usize, key: usize, length: u32): usize {
  if (count > UNSORTED_MAX) return findSorted(members, count, key, length);
  const end = members + count * MEMBER_BYTES;
  for (let member = members; member < end; member += MEMBER_BYTES) {
    if (load<u32>(member, 4) == length && equalBytes(load<u32>(member), key, length)) return member + 8;
  }
  return 0;
}

function findSorted(members: usize, count: usize, key: usize, length: usize): usize {
  let low: usize = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >> 1;
    const member = members + middle * MEMBER_BYTES;
    const order = compareBytes(load<u32>(member), load<u32>(member, 4), key, length);
    if (order == 0) return member + 8;
    if (order < 0) low = middle + 1;
    else high = middle;
  }
  return 0;
}

function compareKeys(a: usize, b: usize): i32 {
  return compareBytes(load<u32>(a), load<u32>(a, 4), load<u32>(b), load<u32>(b, 4));
}

/** Heapsort: in place, with the same bound for every input. */
function sort(members: usize, count: usize): void {
  for (let root = count >> 1; root > 0; root -= 1) sink(members, root - 1, count);
  for (let end = count - 1; end > 0; end -= 1) {
    swap(members, members + end * MEMBER_BYTES);
    sink(members, 0, end);
  }
}

function sink(members: usize, start: usize, count: usize): void {
  let root = start;
  while (true) {
    let child = (root << 1) + 1;
    if (child >= count) return;
    let largest = members + child * MEMBER_BYTES;
    if (child + 1 < count && compareKeys(largest, largest + MEMBER_BYTES) < 0) {
      child += 1;
      largest += MEMBER_BYTES;
    }
    const top = members + root * MEMBER_BYTES;
    if (compareKeys(top, largest) >= 0) return;
    swap(top, largest);
    root = child;
  }
}

function swap(a: usize, b: usize): void {
  for (let offset: usize = 0; offset < MEMBER_BYTES; offset += 8) {
    const held = load<u64>(a + offset);
    store<u64>(a + offset, load<u64>(b + offset));
    store<u64>(b + offset, held);
  }
}
