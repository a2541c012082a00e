/** With this much memory or more, limits of bytes are what limits.ts says. */
const WHOLE_BYTES = 4 * 1024 ** 3;

/**
 * A limit of bytes, scaled down in a container with less memory. The kernel would end the service for bodies and rows that a machine has
 * room for.
 */
export function inMemory(bytesMax: number): number {
  // 0 if there is no limit, or it is not known.
  const memoryBytes = process.constrainedMemory() || WHOLE_BYTES;
  return Math.floor(bytesMax * Math.min(1, memoryBytes / WHOLE_BYTES));
}
