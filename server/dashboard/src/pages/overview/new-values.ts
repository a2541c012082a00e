/** What began within the period. Where nothing is older, everything would be new: that says nothing. */
export function newOf<T extends { value: string; first: string }>(
  items: T[],
  { fromMs, toMs }: { fromMs: number; toMs: number },
): T[] {
  const firstMs = ({ first }: T) => Date.parse(first);
  if (!items.some((item) => firstMs(item) < fromMs)) return [];
  return items.filter((item) => item.value !== '' && firstMs(item) >= fromMs && firstMs(item) < toMs);
}
