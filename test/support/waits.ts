import { setTimeout as sleep } from 'node:timers/promises';

type Waits = { slowestMs: number; count: number; /** The largest reading of `gauge`. */ peak: number };

const PAUSE_MS = 20;

/** Requests this address repeatedly until `end`, and reads the gauge each time. */
export function watchWaits(url: string, gauge: () => number = () => 0): { end: () => Promise<Waits> } {
  let isOver = false;
  const waits: Waits = { slowestMs: 0, count: 0, peak: 0 };
  const watch = async () => {
    while (!isOver) {
      const startMs = performance.now();
      await (await fetch(url)).arrayBuffer();
      waits.slowestMs = Math.max(waits.slowestMs, performance.now() - startMs);
      waits.count += 1;
      waits.peak = Math.max(waits.peak, gauge());
      await sleep(PAUSE_MS);
    }
    return waits;
  };
  const watching = watch();
  return {
    end: () => {
      isOver = true;
      return watching;
    },
  };
}
