import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { median } from './median.ts';
import { startServer } from './process.ts';

/** Of one process: processor time for each event, events a second, the 99th percentile of its turns. */
type Emitted = { cpuUs: number; perSecond: number; stallMs: number };

const MODES = {
  none: 'the loop alone',
  single: 'one POST per event',
  batch: 'batches of up to 100',
} as const;
type Mode = keyof typeof MODES;

const EVENTS_PER_SECOND = 5_000;

/** The processor time of a process that emits 5,000 events a second, with single posts and with batches. */
export async function benchEmit({ seconds, rounds }: { seconds: number; rounds: number }): Promise<void> {
  const { child, url } = await startServer(fileOf('emit-server.ts'), []);
  const results: Record<Mode, Emitted[]> = { none: [], single: [], batch: [] };
  try {
    for (let round = 0; round < rounds; round += 1)
      for (const mode of Object.keys(MODES) as Mode[]) results[mode].push(emit(mode, url.origin, seconds));
  } finally {
    child.kill('SIGKILL');
  }
  const of = (mode: Mode, name: keyof Emitted): number => median(results[mode].map((result) => result[name]));
  const cost = (mode: Mode): number => of(mode, 'cpuUs') - of('none', 'cpuUs');
  for (const mode of ['single', 'batch'] as const) {
    console.log(
      `${MODES[mode].padEnd(22)} ${cost(mode).toFixed(1).padStart(6)} µs of processor time an event, ` +
        `${((cost(mode) * EVENTS_PER_SECOND) / 1e4).toFixed(1)} % of one core at ${EVENTS_PER_SECOND} events/s (measured at ${of(mode, 'perSecond').toFixed(0)}), ` +
        `loop delay p99 ${of(mode, 'stallMs').toFixed(1)} ms (${of('none', 'stallMs').toFixed(1)} without events)`,
    );
  }
  console.log(`A batch costs ${((100 * cost('batch')) / cost('single')).toFixed(0)} % of single posts.`);
}

/** In a separate process, so that nothing else is in its processor time. */
function emit(mode: Mode, url: string, seconds: number): Emitted {
  const args = [fileOf('emitter.ts'), mode, url, String(EVENTS_PER_SECOND), String(seconds)];
  return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' })) as Emitted;
}

function fileOf(name: string): string {
  return fileURLToPath(new URL(name, import.meta.url));
}
