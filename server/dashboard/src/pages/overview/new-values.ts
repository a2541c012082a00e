/** The values first seen within the period. None if there are no older records: then every value would be new. */
export function newOf<T extends { value: string; first: string }>(
  items: T[],
  { fromMs, toMs }: { fromMs: number; toMs: number },
): T[] {
  if (!hasOlder(items, fromMs)) return [];
  return items.filter((item) => item.value !== '' && firstMs(item) >= fromMs && firstMs(item) < toMs);
}

/** Whether a value was seen before this time. */
export function hasOlder(items: { first: string }[], fromMs: number): boolean {
  return items.some((item) => firstMs(item) < fromMs);
}

function firstMs({ first }: { first: string }): number {
  return Date.parse(first);
}
