/** Milliseconds of the processor that `run` takes in this thread: what else the machine does is not in them. */
export function cpuMs(run: () => void): number {
  const before = process.threadCpuUsage();
  run();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}

/** The least of three runs. */
export function fastestCpuMs(run: () => void): number {
  return Math.min(cpuMs(run), cpuMs(run), cpuMs(run));
}
