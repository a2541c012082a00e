import type { PolicyIr, RoleRow } from '../../client/policy/language/index.ts';
import type { BlobWriter, PoolRef } from './blob-writer.ts';

/** Entries are sorted by name for the runtime's binary search; `index` is the position in the policy. */
type SortedTool = { name: string; index: number };
type SortedRole = RoleRow & { index: number };

export function packTools(blob: BlobWriter, { rules }: PolicyIr, tools: SortedTool[]): number {
  const table = blob.address;
  for (const { name, index } of tools) {
    packName(blob, name);
    blob.ref(bitsWhere(blob, rules, (rule) => rule.tools === null || rule.tools.includes(index)));
  }
  return table;
}

export function packRoles(
  blob: BlobWriter,
  { rules }: PolicyIr,
  { roles, tools }: { roles: SortedRole[]; tools: SortedTool[] },
): number {
  const table = blob.address;
  for (const { name, index, allow, approve } of roles) {
    packName(blob, name);
    blob.ref(blob.sizedText(JSON.stringify(name)));
    blob.ref(bitsWhere(blob, tools, (tool) => allow.includes(tool.index)));
    blob.ref(bitsWhere(blob, tools, (tool) => approve.includes(tool.index)));
    blob.ref(bitsWhere(blob, rules, (rule) => rule.roles === null || rule.roles.includes(index)));
  }
  return table;
}

function packName(blob: BlobWriter, name: string): void {
  const ref = blob.text(name);
  blob.ref(ref);
  blob.word(ref.length);
}

/** One bit per item, in 32-bit words. */
function bitsWhere<Item>(blob: BlobWriter, items: readonly Item[], holds: (item: Item) => boolean): PoolRef {
  const bytes = new Uint8Array(Math.ceil(items.length / 32) * 4);
  items.forEach((item, index) => {
    if (holds(item)) bytes[index >> 3] = (bytes[index >> 3] ?? 0) | (1 << (index & 7));
  });
  return blob.bytes(bytes);
}
