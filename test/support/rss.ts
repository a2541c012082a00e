import { readFileSync } from 'node:fs';

/** Resident memory of a process in MB. */
export function rssMb(pid: number | undefined): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
}
