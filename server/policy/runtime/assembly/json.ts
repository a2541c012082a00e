// Parses strict JSON into values. An open array or object is on the stack; when it closes, it moves to the heap,
// so that its items or members are adjacent.
import { copyBytes } from './bytes';
import {
  CALL_DEPTH_MAX,
  CALL_VALUES_MAX,
  MEMBER_BYTES,
  TYPE_ARRAY,
  TYPE_BOOLEAN,
  TYPE_NULL,
  TYPE_OBJECT,
  TYPE_STRING,
  VALUE_BYTES,
} from './layout';
import { sealMembers } from './members';
import { readNumber } from './numbers';
import { readString, textBytes, textStart } from './strings';

const ZERO: u32 = 0;

let cursor: usize = 0;
let top: usize = 0;
let heap: usize = 0;
let valueCount: u32 = 0;

/** The first byte after everything that the current call has in memory. */
export function heapEnd(): usize {
  return heap;
}

/** An upper bound of the values in a text: each value takes a byte, and all but 64 take a comma as well. */
export function valuesMax(bytes: usize): usize {
  const most = (bytes >> 1) + CALL_DEPTH_MAX + 2;
  return most < CALL_VALUES_MAX ? most : CALL_VALUES_MAX;
}

/**
 * Parses the text from `start` to `end`; the byte at `end` must be zero. The stack starts at `stack`. Returns the
 * root value, or 0 for bad JSON.
 */
export function readJson(start: usize, end: usize, stack: usize): usize {
  cursor = start;
  top = stack;
  heap = stack + valuesMax(end - start) * MEMBER_BYTES;
  valueCount = 0;
  if (!readValue(1)) return 0;
  skipSpace();
  return cursor == end ? stack : 0;
}

function skipSpace(): u32 {
  while (true) {
    const byte = load<u8>(cursor) as u32;
    if (byte > 0x20 || (byte != 0x20 && byte != 0x0a && byte != 0x0d && byte != 0x09)) return byte;
    cursor += 1;
  }
}

/** Parses one value and pushes it on the stack. */
function readValue(depth: i32): bool {
  valueCount += 1;
  if (valueCount > CALL_VALUES_MAX) return false;
  const byte = skipSpace();
  if (byte == 0x22) {
    if (!takeString()) return false;
    push(TYPE_STRING, textStart(), textBytes());
    return true;
  }
  if (byte == 0x7b) return depth <= CALL_DEPTH_MAX && readObject(depth);
  if (byte == 0x5b) return depth <= CALL_DEPTH_MAX && readArray(depth);
  if (byte == 0x74) return readWord(0x65757274, 4, TYPE_BOOLEAN | 0x100);
  if (byte == 0x66) return load<u8>(cursor, 4) == 0x65 && readWord(0x736c6166, 5, TYPE_BOOLEAN);
  if (byte == 0x6e) return readWord(0x6c6c756e, 4, TYPE_NULL);
  const next = readNumber(cursor, top);
  if (next == 0) return false;
  cursor = next;
  top += VALUE_BYTES;
  return true;
}

function takeString(): bool {
  const next = readString(cursor);
  if (next == 0) return false;
  cursor = next;
  return true;
}

function push(type: u32, address: usize, length: usize): void {
  store<u32>(top, type);
  store<u32>(top, address as u32, 4);
  store<u32>(top, length as u32, 8);
  store<u32>(top, ZERO, 12);
  top += VALUE_BYTES;
}

function readWord(letters: u32, length: usize, type: u32): bool {
  if (load<u32>(cursor) != letters) return false;
  cursor += length;
  push(type, 0, 0);
  return true;
}

function readArray(depth: i32): bool {
  const base = top;
  cursor += 1;
  if (skipSpace() == 0x5d) return close(TYPE_ARRAY, base, 0);
  while (true) {
    if (!readValue(depth + 1)) return false;
    const mark = skipSpace();
    if (mark == 0x5d) return close(TYPE_ARRAY, base, (top - base) / VALUE_BYTES);
    if (mark != 0x2c) return false;
    cursor += 1;
  }
}

function readObject(depth: i32): bool {
  const base = top;
  cursor += 1;
  let mark = skipSpace();
  if (mark == 0x7d) return close(TYPE_OBJECT, base, 0);
  while (true) {
    if (mark != 0x22 || !readMember(depth)) return false;
    mark = skipSpace();
    if (mark == 0x7d) return close(TYPE_OBJECT, base, (top - base) / MEMBER_BYTES);
    if (mark != 0x2c) return false;
    cursor += 1;
    mark = skipSpace();
  }
}

function readMember(depth: i32): bool {
  if (!takeString()) return false;
  store<u32>(top, textStart() as u32);
  store<u32>(top, textBytes() as u32, 4);
  top += MEMBER_BYTES - VALUE_BYTES;
  if (skipSpace() != 0x3a) return false;
  cursor += 1;
  return readValue(depth + 1);
}

/** Consumes the closing bracket, moves the items to the heap and pushes one value for them. */
function close(type: u32, base: usize, count: usize): bool {
  cursor += 1;
  const bytes = top - base;
  copyBytes(heap, base, bytes);
  top = base;
  const items = heap;
  heap += bytes;
  push(type, items, count);
  return type == TYPE_ARRAY || sealMembers(items, count);
}
