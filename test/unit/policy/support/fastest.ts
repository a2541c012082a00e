/** The shortest of three runs, in milliseconds: a bound on the code, not on the company it runs in. */
export function fastestMs(run: () => void): number {
  const times = Array.from({ length: 3 }, () => {
    const start = performance.now();
    run();
    return performance.now() - start;
  });
  return Math.min(...times);
}
