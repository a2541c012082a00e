import { expect } from 'chai';
import { NO_FILTERS } from '../../../server/records/filters.ts';
import { readWindow, type WindowName } from '../../../server/records/window.ts';
import type { ModelRecord } from './model.ts';
import { Random } from '../../support/random.ts';
import { askBuckets, askIds, askSummary, entriesOf, insertRows, openWorld, type World } from './world.ts';
import { DAY_MS, HOUR_MS } from '../../../server/durations.ts';

// Golden answers, counted by hand: four records at each edge, 1 ms before it, on it, 1 ms and an hour after it.
// Argument: data directory. Prints so when all is well.

/** Tomorrow at 10:20:30.400: ahead of the engine's clock, which must not drop unexpired rows. */
const NOW_MS = Math.ceil(Date.now() / DAY_MS) * DAY_MS + Date.parse('1970-01-01T10:20:30.400Z');
const random = new Random(1);
const ids = new Map<string, string>();

function record(name: string, occurredAtMs: number, outcome: ModelRecord['outcome'] = 'allow'): ModelRecord {
  const event_id = random.uuid();
  ids.set(event_id, name);
  const texts = { agent_name: 'a', tool_name: 't', role: '', user_id: '', session_id: '' };
  const others = { error_type: '', reason: '', arguments: '', model: 'm', cost_usd: null };
  const tokens = { input_tokens: 1, output_tokens: 0, cached_input_tokens: 0, reasoning_tokens: 0 };
  return { event_id, occurredAtMs, outcome, ...texts, ...others, ...tokens };
}

function recordsAt(days: number): ModelRecord[] {
  const edgeMs = NOW_MS - days * DAY_MS;
  return [
    record(`${days}d-1ms`, edgeMs - 1, 'deny'),
    record(`${days}d`, edgeMs, 'needs_approval'),
    record(`${days}d+1ms`, edgeMs + 1),
    record(`${days}d+1h`, edgeMs + HOUR_MS),
  ];
}

const RECORDS = [
  record('now', NOW_MS),
  record('now+5min', NOW_MS + 300_000, 'deny'),
  ...[1, 7, 30, 90].flatMap(recordsAt),
];

/** A minute before midnight, when the newest record is already tomorrow's. */
const LATE_MS = Math.ceil(NOW_MS / DAY_MS) * DAY_MS - 60_000;
const LATE = [-3, -2, -1, 2].map((minutes) =>
  record(`midnight${minutes}min`, LATE_MS + 60_000 * (minutes + 1)),
);

/** Per window: its total and denied records, its buckets, and the records in its first, second and last bucket. */
const GOLDEN = [
  ['24h', 5, 1, { length: 25, start: '10:00', seconds: 3600 }, [2, 1, 2]],
  ['7d', 9, 2, { length: 29, start: '06:00', seconds: 21_600 }, [3, 0, 2]],
  ['30d', 13, 3, { length: 31, start: '00:00', seconds: 86_400 }, [3, 0, 2]],
  ['90d', 17, 4, { length: 91, start: '00:00', seconds: 86_400 }, [3, 0, 2]],
] as const;

async function check(world: World): Promise<void> {
  for (const [name, total, deny, golden, filled] of GOLDEN) {
    const window = readWindow(name satisfies WindowName, NOW_MS);
    const asked = { projectId: 'edges', window, filters: NO_FILTERS };
    const { totals } = await askSummary(world, asked);
    expect([name, totals.total, totals.deny]).to.deep.equal([name, total, deny]);

    const buckets = await askBuckets(world, asked);
    expect(buckets.length).to.equal(golden.length);
    expect(buckets[0]?.start.slice(11, 16)).to.equal(golden.start);
    expect(window.bucketSeconds).to.equal(golden.seconds);
    const counts = [buckets[0], buckets[1], buckets.at(-1)].map((bucket) => bucket?.total);
    expect([name, ...counts]).to.deep.equal([name, ...filled]);

    const list = await askIds(world, { ...asked, limit: 3, by: 'cursor' });
    const days = [1, 7, 30, 90].filter((day) => day * DAY_MS <= NOW_MS - window.fromMs);
    const names = days.flatMap((day) => [`${day}d+1h`, `${day}d+1ms`, `${day}d`, `${day}d-1ms`]).slice(0, -1);
    expect(list.ids.map((id) => ids.get(id))).to.deep.equal(['now+5min', 'now', ...names]);
    expect(list.total).to.equal(total);
  }
  const late = { projectId: 'late', window: readWindow('24h', LATE_MS), filters: NO_FILTERS, limit: 2 };
  for (const by of ['cursor', 'offset'] as const) {
    const list = await askIds(world, { ...late, by });
    const names = LATE.map(({ event_id }) => ids.get(event_id)).toReversed();
    expect([by, ...list.ids.map((id) => ids.get(id))]).to.deep.equal([by, ...names]);
  }
}

async function run(): Promise<void> {
  const world = await openWorld(process.argv[2] ?? '');
  const insert = async () => {
    await insertRows(world, entriesOf('edges', RECORDS, NOW_MS));
    await insertRows(world, entriesOf('late', LATE, LATE_MS));
  };
  // As rows, then stored twice, then merged into aggregates.
  await insert();
  await world.restart('sole');
  await check(world);
  await world.store.writer.command('SYSTEM STOP MERGES decisions');
  await insert();
  await world.restart('several');
  await check(world);
  await world.store.writer.command('SYSTEM START MERGES decisions');
  await world.store.writer.command('OPTIMIZE TABLE decisions FINAL');
  await world.restart('sole');
  await check(world);
  await world.close();
  console.log('as counted');
}

run().then(
  () => process.exit(0),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
