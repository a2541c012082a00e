/** The processor time in milliseconds that `run` takes in this thread. Other load on the machine does not count. */
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
