/** The middle of the sorted values, the upper one of two; 0 of none. */
export function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;
}
