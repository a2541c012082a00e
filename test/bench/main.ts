import { parseArgs } from 'node:util';
import { benchAttack } from './attack/main.ts';
import { benchBatches } from './batches.ts';
import { benchClient } from './client.ts';
import { benchDrops } from './drops.ts';
import { benchEmit } from './emit.ts';
import { benchExits } from './exits.ts';
import { benchFlush } from './flush.ts';
import { benchGateway } from './gateway.ts';
import { benchIngest } from './ingest.ts';
import { benchLog } from './log.ts';
import { benchMemory } from './memory.ts';
import { benchPackage } from './package.ts';
import { benchPolicy } from './policy.ts';
import { benchPulls } from './pulls.ts';
import { benchReads } from './reads.ts';
import { benchRestart } from './restart.ts';
import { benchSlowRead } from './slow-read.ts';
import { benchVerify } from './verify.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seconds: { type: 'string', default: '5' },
    rounds: { type: 'string', default: '3' },
    only: { type: 'string' },
    connections: { type: 'string', default: '32,64,256' },
    rows: { type: 'string', default: '1000000' },
    days: { type: 'string', default: '90' },
    directory: { type: 'string' },
    events: { type: 'string', default: '500000' },
    stored: { type: 'string', default: '0' },
    batch: { type: 'string' },
    calls: { type: 'string', default: '10000' },
    runtimes: { type: 'string', default: `node 24=${process.execPath}` },
  },
});
const seconds = Number(values.seconds);
const connectionCounts = values.connections.split(',').map(Number);
const only = values.only === undefined ? {} : { only: values.only };

const PARTS: Record<string, () => Promise<void> | void> = {
  ingest: () => benchIngest({ seconds, rounds: Number(values.rounds), connectionCounts, ...only }),
  batches: () =>
    benchBatches({ seconds, rounds: Number(values.rounds), stored: Number(values.stored), ...only }),
  log: () => benchLog({ seconds, rounds: Number(values.rounds) }),
  memory: () =>
    benchMemory({
      events: Number(values.events),
      ...(values.batch === undefined ? {} : { batch: Number(values.batch) }),
    }),
  pulls: () => benchPulls({ seconds }),
  reads: () =>
    benchReads({
      rows: Number(values.rows),
      days: Number(values.days),
      seconds,
      ...only,
      ...(values.directory === undefined ? {} : { directory: values.directory }),
    }),
  restart: () =>
    benchRestart({
      rows: Number(values.rows),
      seconds,
      ...(values.directory === undefined ? {} : { directory: values.directory }),
    }),
  'slow-read': () =>
    benchSlowRead({
      rows: Number(values.rows),
      seconds: Math.max(seconds, 10),
      rounds: Number(values.rounds),
    }),
  verify: () => benchVerify({ rows: Number(values.rows) }),
  attack: () => benchAttack({ seconds, ...only }),
  policy: benchPolicy,
  client: benchClient,
  drops: benchDrops,
  package: benchPackage,
  flush: benchFlush,
  exits: () => benchExits({ runtimes: values.runtimes }),
  gateway: () => benchGateway({ calls: Number(values.calls) }),
  emit: () => benchEmit({ seconds, rounds: Number(values.rounds) }),
};

const names = positionals.length > 0 ? positionals : Object.keys(PARTS);
for (const name of names) {
  const part = PARTS[name];
  if (part === undefined)
    throw new Error(`There is no bench "${name}"; there are ${Object.keys(PARTS).join(', ')}`);
  await part();
}
