import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { startGatehouse } from './ingest.ts';
import { median } from './median.ts';
import { endProcess, load, rssMb, temporaryDirectory } from './process.ts';

const STEPS = 10;
const CONNECTIONS = { single: 256, batches: 8 };
const SECONDS_PER_LOAD = 5;
/** Merges make it fluctuate; growth with the events would show from the first half to the second. */
const RATIO_MAX = 1.25;

type BenchMemory = { events: number; batch?: number };

/** Resident memory of one service while it accepts `events` decisions, alone or in batches, in ten evenly spaced readings. */
export async function benchMemory({ events, batch }: BenchMemory): Promise<void> {
  const directory = temporaryDirectory();
  const service = await startGatehouse(join(directory, 'data'));
  try {
    const connections = batch === undefined ? CONNECTIONS.single : CONNECTIONS.batches;
    console.log(
      `\n${connections} connections${batch === undefined ? '' : ` × ${batch} events`}\n\n| events | RSS MB |\n|--:|--:|\n| 0 | ${rssMb(service.child)} |`,
    );
    let accepted = 0;
    const readings: number[] = [];
    for (let step = 1; step <= STEPS; step += 1) {
      while (accepted < (events * step) / STEPS) {
        const run = await load(service.url, {
          key: service.key,
          connections,
          seconds: SECONDS_PER_LOAD,
          ...(batch === undefined ? {} : { batch }),
        });
        if (run.accepted === 0) throw new Error(`nothing was accepted: ${JSON.stringify(run.statuses)}`);
        accepted += run.accepted;
      }
      readings.push(rssMb(service.child));
      console.log(`| ${accepted} | ${readings.at(-1)} |`);
    }
    const ratio = median(readings.slice(STEPS / 2)) / median(readings.slice(0, STEPS / 2));
    console.log(`The second half takes ${ratio.toFixed(2)} times the first; at most ${RATIO_MAX} is allowed`);
    if (ratio > RATIO_MAX) process.exitCode = 1;
    const stored = await service.count();
    console.log(
      `${accepted} accepted, ${stored} in the store${stored === accepted ? '' : '  <-- NOT EQUAL'}`,
    );
    if (stored !== accepted) process.exitCode = 1;
  } finally {
    await endProcess(service.child);
    rmSync(directory, { recursive: true, force: true });
  }
}
