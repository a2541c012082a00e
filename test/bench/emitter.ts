// Emits at a steady rate and prints what that cost: emitter.ts <none|single|batch> <url> <events per second> <seconds>
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { IN_FLIGHT_MAX } from '../../client/limits.ts';
import { configure, flush, shutdown, type DecisionInput } from '../../client/index.ts';

const [mode = 'none', baseUrl = '', perSecond = '5000', seconds = '5'] = process.argv.slice(2);

const WARM_UP_MS = 1_000;

const gate = configure({ apiKey: 'k', baseUrl, batch: mode === 'batch' });

const decision = (n: number): DecisionInput => ({
  agent_name: 'support-bot',
  tool_name: 'search',
  outcome: 'allow',
  role: 'editor',
  reason: 'allowed by role',
  arguments: { query: 'where is my parcel', limit: n, filter: { status: ['late', 'lost'] } },
  user_id: 'user-1',
  session_id: 'session-1',
});

await emitFor(WARM_UP_MS);
await flush();
const delay = monitorEventLoopDelay({ resolution: 1 });
delay.enable();
const cpu = process.cpuUsage();
const emitted = await emitFor(Number(seconds) * 1_000);
await flush();
const { user, system } = process.cpuUsage(cpu);
delay.disable();
const { failed, dropped } = gate.stats();
await shutdown();
if (failed + dropped > 0) throw new Error(`${failed} events failed and ${dropped} were dropped`);
const cpuUs = (user + system) / emitted;
console.log(
  JSON.stringify({ cpuUs, perSecond: emitted / Number(seconds), stallMs: delay.percentile(99) / 1e6 }),
);

async function emitFor(durationMs: number): Promise<number> {
  const startMs = performance.now();
  let emitted = 0;
  for (let atMs = 0; atMs < durationMs; atMs = performance.now() - startMs) {
    const due = Math.floor((atMs / 1_000) * Number(perSecond));
    const end = Math.min(due, emitted + room());
    for (; emitted < end; emitted += 1) {
      const event = decision(emitted);
      if (mode !== 'none') gate.emit(event);
    }
    await sleep(1);
  }
  return emitted;
}

/** Dropping an event is cheaper than sending it. */
function room(): number {
  return mode === 'single' ? IN_FLIGHT_MAX - gate.stats().in_flight : Infinity;
}
