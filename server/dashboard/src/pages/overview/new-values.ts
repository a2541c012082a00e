/** The values first seen within the period. None if there are no older records: then every value would be new. */
export function newOf<T extends { value: string; first: string }>(
  items: T[],
  { fromMs, toMs }: { fromMs: number; toMs: number },
): T[] {
  const firstMs = ({ first }: T) => Date.parse(first);
  if (!items.some((item) => firstMs(item) < fromMs)) return [];
  return items.filter((item) => item.value !== '' && firstMs(item) >= fromMs && firstMs(item) < toMs);
}
