import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { pino } from 'pino';
import { Gauge } from 'prom-client';
import { EmitterStarts } from '../../../server/commit/emitter-starts.ts';
import { readCompleteness } from '../../../server/records/completeness.ts';
import { type AuditReads, createReads, type Writers } from '../../../server/records/days.ts';
import { EmittedGauge } from '../../../server/records/emitted-gauge.ts';
import { NO_FILTERS } from '../../../server/records/filters.ts';
import { parseGapCursor, readGaps } from '../../../server/records/gaps.ts';
import { STREAMS } from '../../../server/records/ledger.ts';
import { readRange } from '../../../server/records/window.ts';
import { type Connection, connectEmbedded } from '../../../server/store/connection.ts';
import { clickhouseTime } from '../../../server/store/time.ts';
import { Random } from '../../support/random.ts';
import { type Close, completenessFrom, type Event, gapsFrom, type History } from './model.ts';
import { DAY_MS, HOUR_MS } from '../../../server/durations.ts';

type Row = Event & { event_id: string; version: number };
type World = { project_id: string; history: History; rows: Row[] };

/** Called in a separate process: random histories on the store at this path. Resolves with the differences. */
export async function compare({
  dataDir,
  seed,
  histories,
}: {
  dataDir: string;
  seed: number;
  histories: number;
}) {
  const connection = connectEmbedded(join(dataDir, 'clickhouse'), {
    output_format_json_quote_64bit_integers: 0,
  });
  const random = new Random(seed);
  const nowMs = Date.now();
  const worlds = Array.from({ length: histories }, () => worldFrom(random, nowMs));
  const differences: unknown[] = [];
  for (const half of [0, 1]) {
    for (const world of worlds) await write(connection, world, half);
    // Merged and unmerged parts, with projections and without.
    if (half === 0) await connection.command('OPTIMIZE TABLE decisions FINAL');
  }
  // Hours are read as a whole; in a table of few rows, they are read row by row.
  for (const [round, how] of ([{ writers: 'cluster' }, { writers: 'sole', fewRows: 0 }] as const).entries())
    differences.push(...(await ask(connection, worlds, { ...how, nowMs, round })));
  await connection.command('OPTIMIZE TABLE decisions FINAL');
  await connection.command('OPTIMIZE TABLE llm_invocations FINAL');
  differences.push(...(await ask(connection, worlds, { writers: 'sole', nowMs, round: 2 })));
  await connection.close();
  const gaps = worlds.flatMap(({ history }) => gapsFrom(history, { fromMs: 0, toMs: Infinity, nowMs }));
  return { differences, gaps: gaps.length };
}

/** Called in a separate process: what is missing from senders whose first, or only, records have expired and are gone. */
export async function missingAfterExpiry({ dataDir }: { dataDir: string }) {
  const connection = connectEmbedded(join(dataDir, 'clickhouse'), {
    output_format_json_quote_64bit_integers: 0,
  });
  const nowMs = Date.now();
  const [emitter, late] = [randomUUID(), randomUUID()];
  const stream = 'decisions' as const;
  const eventAt = (sequence: number, daysAgo: number, { dropped = 0, sender = emitter } = {}) => {
    const atMs = nowMs - daysAgo * DAY_MS;
    const times = { occurredAtMs: atMs, receivedAtMs: atMs };
    return { stream, emitter: sender, sequence, dropped, agent_name: 'a', ...times };
  };
  // 3 and 4 were dropped, 6 is missing.
  const events = [
    eventAt(1, 87),
    eventAt(2, 87),
    eventAt(5, 1, { dropped: 2 }),
    eventAt(7, 1, { dropped: 2 }),
  ];
  // Its only record arrived in its last minutes, with the report.
  events.push(eventAt(1, 89.999, { sender: late }));
  const closes = [{ stream, emitter: late, emitted: 1, dropped: 0, receivedAtMs: nowMs }];
  const rows = events.map((event) => ({ ...event, event_id: randomUUID(), version: 1 }));
  const project_id = randomUUID();
  for (const half of [0, 1]) await write(connection, { project_id, history: { events, closes }, rows }, half);
  const ready = () => Promise.resolve();
  await new EmitterStarts({ connection, ready, logger: pino({ enabled: false }), now: () => nowMs }).fill();
  const laterMs = nowMs + 4 * DAY_MS;
  const runRead = <R>(text: string, params = {}) => connection.query<R>(text, params);
  const runReadBytes = () => Promise.resolve(Buffer.alloc(0));
  const reads = createReads({ runRead, runReadBytes, writers: 'cluster', now: () => laterMs });
  const { signal } = new AbortController();
  const scope = {
    projectId: project_id,
    window: readRange({ window: '90d' }, laterMs),
    filters: NO_FILTERS,
    signal,
  };
  const missing: unknown[] = [(await readCompleteness(reads, scope)).missing];
  await connection.command('ALTER TABLE decisions DELETE WHERE sequence < 3 SETTINGS mutations_sync = 1');
  missing.push((await readCompleteness(reads, scope)).missing);
  await connection.command('TRUNCATE TABLE emitter_starts');
  missing.push((await readCompleteness(reads, scope)).missing);
  await connection.close();
  return missing;
}

type Asked = { writers: Writers; fewRows?: number; nowMs: number; round: number };

/** Reads each world over one of three ranges, a different one in each round: a read of whole hours costs 0.4 s of processor time. */
async function ask(
  connection: Connection,
  worlds: World[],
  { nowMs, round, ...how }: Asked,
): Promise<unknown[]> {
  const runRead = <R>(text: string, params = {}) => connection.query<R>(text, params);
  const runReadBytes = () => Promise.resolve(Buffer.alloc(0));
  const reads = createReads({ runRead, runReadBytes, now: () => nowMs, ...how });
  const { signal } = new AbortController();
  const differences: unknown[] = [];
  const range = {
    from: new Date(nowMs - 3 * DAY_MS).toISOString(),
    to: new Date(nowMs - 5 * HOUR_MS).toISOString(),
  };
  const ranges = [{ window: '24h' }, { window: '90d' }, range];
  for (const [place, { project_id, history }] of worlds.entries()) {
    const window = readRange(ranges[(round + place) % ranges.length] ?? range, nowMs);
    const scope = { projectId: project_id, window, filters: NO_FILTERS, signal };
    const bounds = { fromMs: window.sinceMs, toMs: window.beforeMs, nowMs };
    const answered = JSON.parse(JSON.stringify(await readCompleteness(reads, scope))) as Record<
      string,
      unknown
    >;
    const { project_id: _, window: __, from, to, ...counts } = answered;
    const all: object[] = [];
    let cursor: string | null = null;
    do {
      const page = await readGaps(reads, scope, {
        limit: 7,
        cursor: cursor === null ? undefined : parseGapCursor(cursor),
      });
      all.push(...page.items);
      cursor = page.next_cursor;
    } while (cursor !== null);
    const expected = {
      counts: completenessFrom(history, bounds),
      gaps: inOrder(gapsFrom(history, bounds)),
    };
    if (JSON.stringify({ counts, gaps: inOrder(all) }) !== JSON.stringify(expected))
      differences.push({ ...how, from, to, answered: { counts, gaps: inOrder(all) }, expected, history });
    await reads.days.decisions.settled();
  }
  const [gauge, expected] = [await gaugeOf(reads), gaugeFrom(worlds, nowMs)];
  if (JSON.stringify(gauge) !== JSON.stringify(expected)) differences.push({ ...how, gauge, expected });
  return differences;
}

const STATES = ['received', 'dropped', 'missing'] as const;

/** The gauge of the last full hour, as the service sets it. */
async function gaugeOf(reads: AuditReads) {
  const labelNames = ['stream', 'state'] as const;
  const gauge = new Gauge({ name: 'emitted', help: 'Emitted events', labelNames, registers: [] });
  await new EmittedGauge({ reads, gauge, logger: pino({ enabled: false }) }).update();
  const { values } = await gauge.get();
  return values.map(({ labels, value }) => [labels.stream, labels.state, value]);
}

function gaugeFrom(worlds: World[], nowMs: number) {
  const toMs = nowMs - (nowMs % HOUR_MS);
  return STREAMS.flatMap((stream) => {
    const counts = worlds.map(({ history: { events, closes } }) => {
      const isOf = (answered: { stream: string }) => answered.stream === stream;
      const history = { events: events.filter(isOf), closes: closes.filter(isOf) };
      return completenessFrom(history, { fromMs: toMs - HOUR_MS, toMs, nowMs });
    });
    return STATES.map((state) => [stream, state, counts.reduce((sum, one) => sum + one[state], 0)]);
  });
}

function inOrder(gaps: object[]): string[] {
  return gaps.map((gap) => JSON.stringify(gap)).sort((a, b) => (a < b ? -1 : 1));
}

const SENDERS = ['decisions', 'decisions', 'decisions', 'llm_invocations', 'llm_invocations'] as const;

/** A few senders: drops, losses, batches, retries that arrive late, numbers used twice, expired and backdated events. */
function worldFrom(random: Random, nowMs: number): World {
  const project_id = randomUUID();
  const history: History = { events: [], closes: [] };
  for (const stream of SENDERS) {
    const emitter = randomUUID();
    const ageMs = random.pick([2 * HOUR_MS, 2 * DAY_MS, 20 * DAY_MS, 90 * DAY_MS + HOUR_MS / 2]);
    const emitted = random.below(40);
    const [dropRate, lossRate] = [random.pick([0, 0.1, 0.5]), random.pick([0, 0.05, 0.3])];
    let dropped = 0;
    let batch: Event[] = [];
    for (let sequence = 1; sequence <= emitted; sequence += 1) {
      if (random.chance(dropRate)) {
        dropped += 1;
        continue;
      }
      const isLate = random.chance(0.05);
      const atMs = Math.floor(
        nowMs - ageMs + ((ageMs - random.pick([0, HOUR_MS, 2 * HOUR_MS])) * sequence) / (emitted + 1),
      );
      const occurredAtMs = isLate
        ? Math.max(nowMs - 90 * DAY_MS - HOUR_MS / 2, atMs - random.below(3 * DAY_MS))
        : atMs;
      const receivedAtMs = Math.min(nowMs, atMs + random.below(5000));
      batch.push({
        stream,
        emitter,
        sequence,
        dropped,
        agent_name: random.pick(['a', 'b']),
        occurredAtMs,
        receivedAtMs,
      });
      if (random.chance(0.6)) continue;
      for (const event of batch)
        if (!random.chance(lossRate))
          history.events.push({
            ...event,
            dropped: random.pick([dropped, dropped, dropped, dropped, null, random.below(20)]),
          });
      batch = [];
    }
    const [again] = history.events.filter((event) => event.emitter === emitter);
    if (again !== undefined && random.chance(0.2))
      history.events.push({
        ...again,
        dropped: random.below(9),
        receivedAtMs: again.receivedAtMs + 1 + random.below(9000),
      });
    for (let closes = random.pick([0, 1, 2]); closes > 0; closes -= 1)
      history.closes.push(
        closeFrom(random, {
          stream,
          emitter,
          emitted,
          dropped,
          receivedAtMs: nowMs - random.below(3 * DAY_MS),
        }),
      );
  }
  const rows = history.events.map((event) => ({ ...event, event_id: randomUUID(), version: 2 }));
  return { project_id, history, rows: [...rows, ...repeatsOf(rows, random)] };
}

function closeFrom(random: Random, close: Close): Close {
  return random.chance(0.8) ? close : { ...close, emitted: random.below(60), dropped: random.below(20) };
}

/** Rows of identities that are already there, as two services may write them. They differ, and must not count. */
function repeatsOf(rows: Row[], random: Random): Row[] {
  return rows
    .filter(({ stream }) => stream === 'decisions' && random.chance(0.05))
    .map((row) => ({ ...row, version: 1, sequence: 1 + random.below(50), dropped: random.below(9) }));
}

async function write(
  connection: Connection,
  { project_id, history, rows }: World,
  half: number,
): Promise<void> {
  const mine = <T>(_: T, place: number) => place % 2 === half;
  for (const stream of ['decisions', 'llm_invocations'] as const) {
    const what = stream === 'decisions' ? { tool_name: 't', outcome: 'allow' } : { model: 'm' };
    const values = rows
      .filter((row) => row.stream === stream)
      .filter(mine)
      .map(({ event_id, version, emitter, sequence, dropped, agent_name, occurredAtMs, receivedAtMs }) => ({
        project_id, event_id, version, emitter, sequence, dropped, agent_name, ...what,
        occurred_at: clickhouseTime(occurredAtMs), received_at: clickhouseTime(receivedAtMs),
      })); // prettier-ignore
    await append(connection, stream, values);
  }
  const closes = history.closes.filter(mine).map(({ stream, emitter, emitted, dropped, receivedAtMs }) => ({
    project_id, stream, emitter, emitted, dropped, failed: 0, received_at: clickhouseTime(receivedAtMs),
  })); // prettier-ignore
  await append(connection, 'emitter_closes', closes);
}

async function append(connection: Connection, table: string, values: object[]): Promise<void> {
  const [first] = values;
  if (first === undefined) return;
  const lines = values.map((value) => JSON.stringify(Object.values(value)));
  await connection.insert({ table, columns: Object.keys(first), lines, token: '' });
}
