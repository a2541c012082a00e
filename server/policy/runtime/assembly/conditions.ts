// Conditions as the packer lays them out. A node's first word holds its kind and the number of its children; the
// second word is the address of the next node.
import { operatorHolds } from './apply-operator';
import { head, NODE_ALL, NODE_ANY, NODE_ARGUMENT_TEST, NODE_NOT, PATHS } from './layout';
import { cachedValueAt, valueAt } from './paths';

/** Whether a condition holds for the arguments and, inside every or some, for the element; 0 stands for no value. */
export function conditionHolds(node: usize, args: usize, element: usize): bool {
  const kind = load<u8>(node);
  const count = load<u32>(node) >> 8;
  if (kind == NODE_ALL) return allHold(node + 8, count, args, element);
  if (kind == NODE_ANY) return anyHolds(node + 8, count, args, element);
  if (kind == NODE_NOT) return !conditionHolds(node + 8, args, element);
  const path = load<u32>(node, 8);
  const value =
    kind == NODE_ARGUMENT_TEST
      ? cachedValueAt(path, args)
      : valueAt(load<u32>(head(PATHS) + ((path as usize) << 2)), element);
  let operator = node + 12;
  for (let index: u32 = 0; index < count; index += 1) {
    if (!operatorHolds(operator, value)) return false;
    operator = load<u32>(operator, 4);
  }
  return true;
}

function allHold(first: usize, count: u32, args: usize, element: usize): bool {
  let node = first;
  for (let index: u32 = 0; index < count; index += 1) {
    if (!conditionHolds(node, args, element)) return false;
    node = load<u32>(node, 4);
  }
  return true;
}

function anyHolds(first: usize, count: u32, args: usize, element: usize): bool {
  let node = first;
  for (let index: u32 = 0; index < count; index += 1) {
    if (conditionHolds(node, args, element)) return true;
    node = load<u32>(node, 4);
  }
  return false;
}
