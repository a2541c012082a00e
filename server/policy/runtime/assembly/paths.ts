// Resolves paths. Many rules use the same few arguments, so a path from the root is resolved once per call.
import { head, PATH_CACHE, PATH_COUNT, PATHS, TYPE_ARRAY, TYPE_OBJECT, VALUE_BYTES } from './layout';
import { findMember } from './members';

const NOT_WALKED: u32 = 0;
const NOWHERE: u32 = 1;
const INDEX_BIT: u32 = 0x80000000;

/** Clears the values of the previous call. */
export function clearPathCache(): void {
  const words = head(PATH_COUNT);
  const cache = head(PATH_CACHE);
  for (let index: usize = 0; index < words; index += 1) store<u32>(cache + (index << 2), NOT_WALKED);
}

/** The value at a path in the arguments, or 0. */
export function cachedValueAt(path: u32, args: usize): usize {
  const offset = (path as usize) << 2;
  const slot = head(PATH_CACHE) + offset;
  const held = load<u32>(slot);
  if (held != NOT_WALKED) return held == NOWHERE ? 0 : held;
  const value = valueAt(load<u32>(head(PATHS) + offset), args);
  store<u32>(slot, value == 0 ? NOWHERE : (value as u32));
  return value;
}

/** The value at a path in any value, or 0. */
export function valueAt(path: usize, root: usize): usize {
  const count = load<u32>(path);
  let step = path + 4;
  let value = root;
  for (let index: u32 = 0; index < count && value != 0; index += 1) {
    value = stepInto(value, load<u32>(step), load<u32>(step, 4));
    step += 8;
  }
  return value;
}

function stepInto(value: usize, length: u32, name: usize): usize {
  const type = load<u8>(value) as u32;
  const items: usize = load<u32>(value, 4);
  const count = load<u32>(value, 8);
  if ((length & INDEX_BIT) != 0) {
    const index = length & ~INDEX_BIT;
    return type == TYPE_ARRAY && index < count ? items + (index as usize) * VALUE_BYTES : 0;
  }
  return type == TYPE_OBJECT ? findMember(items, count, name, length) : 0;
}
