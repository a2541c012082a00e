import { isDeepStrictEqual } from 'node:util';
import type { Writers } from '../../../server/records/days.ts';
import { type Dimension, DIMENSION_NAMES } from '../../../server/records/breakdown.ts';
import { type DecisionFilters, FILTER_NAMES, NO_FILTERS } from '../../../server/records/filters.ts';
import {
  type ReadWindow,
  readRange,
  readWindow,
  WINDOW_NAMES,
  type WindowName,
} from '../../../server/records/window.ts';
import type { Random } from '../../support/random.ts';
import { Model, type ModelRecord } from './model.ts';
import { type UsageDimension, USAGE_DIMENSION_NAMES } from '../../../server/records/llm-usage.ts';
import {
  askBreakdown,
  askBuckets,
  askIds,
  askInvocations,
  askOne,
  askSummary,
  askUsage,
  type Asked,
  entriesOf,
  insertRows,
  settled,
  TABLES,
  type World,
} from './world.ts';
import { DAY_MS, HOUR_MS } from '../../../server/durations.ts';

/** The values that records and filters may have, by filter. */
const VALUES = {
  agent: ['a', 'b', 'é', '😀'],
  role: ['', 'admin', "o'"],
  outcome: ['allow', 'deny', 'needs_approval'],
  tool: ['read', 'write', '='],
  user_id: ['', 'u1', 'u2'],
  session_id: ['', 's1', 's2'],
  reason: ['', 'Über 100 %', 'a_b', 'ÉTÉ', "back\\slash's"],
  model: ['m1', 'm2', 'é'],
} as const;
const ARGUMENTS = ['', '{"q":"Été 😀"}', '{"q":"100 %"}', '{"x":"A_b\\n"}'] as const;
/** In another case than the texts, and with LIKE's wildcards. */
const SEARCHES = ['été', 'ÜBER', '100 %', '%', '_', 'A_B', '\\', "H'", '"}', '😀', 'a.b', 'İ'] as const;
const DIMENSIONS = DIMENSION_NAMES as [Dimension, ...Dimension[]];
const USAGE_DIMENSIONS = USAGE_DIMENSION_NAMES as [UsageDimension, ...UsageDimension[]];
const COSTS = [null, 0, 0.1, 0.2, 0.000_001, 3] as const;
const WINDOWS = WINDOW_NAMES as [WindowName, ...WindowName[]];
const STEPS = ['post', 'post', 'insert', 'repeat', 'repeat', 'restart', 'merge', 'withhold', 'ask'] as const;

/** One project with its random past. Its random numbers and its current time determine everything it does. */
export class History {
  readonly projectId: string;
  readonly model = new Model();
  readonly #world: World;
  readonly #random: Random;
  readonly #nowMs: number;
  readonly #writers: Writers;
  /** The window whose edges its events crowd around. */
  readonly windowName: WindowName;
  readonly #posted = new Set<string>();
  #asked = 0;

  constructor(
    world: World,
    { projectId, random, nowMs }: { projectId: string; random: Random; nowMs: number },
  ) {
    this.projectId = projectId;
    this.#world = world;
    this.#random = random;
    this.#nowMs = nowMs;
    this.#writers = random.chance(0.5) ? 'sole' : 'several';
    this.windowName = random.pick(WINDOWS);
  }

  /** Resolves with the number of questions asked; rejects with the first wrong answer. */
  async run(): Promise<number> {
    await this.#world.restart(this.#writers);
    const steps = 2 + this.#random.below(5);
    // Begins with some records: without any, nothing can go wrong.
    await this.#post();
    for (let step = 0; step < steps; step += 1) await this.#take(this.#random.pick(STEPS));
    await this.#ask();
    return this.#asked;
  }

  async #take(step: (typeof STEPS)[number]): Promise<void> {
    const { store } = this.#world;
    switch (step) {
      case 'post':
        return this.#post();
      case 'insert':
        return this.#insert();
      case 'repeat':
        return this.#repeat();
      case 'restart':
        return this.#world.restart(this.#writers);
      case 'withhold':
        for (const table of TABLES) await store.writer.command(`SYSTEM STOP MERGES ${table}`);
        return;
      case 'merge':
        return this.#merge();
      case 'ask':
        return this.#ask();
    }
  }

  /** Through group commit: new events, and old ones again with other content, which must change nothing. */
  async #post(): Promise<void> {
    const [posted, ...others] = this.#posted;
    const records = this.#records(1 + this.#random.below(12)).map((record) =>
      posted !== undefined && this.#random.chance(0.3)
        ? { ...record, event_id: this.#random.pick([posted, ...others]) }
        : record,
    );
    const alive = records.filter(({ occurredAtMs }) => this.#nowMs - occurredAtMs <= 90 * DAY_MS);
    for (const record of alive) this.model.write(record);
    for (const { event_id } of alive) this.#posted.add(event_id);
    await this.#world.write(
      this.#divided(alive).map((batch) => entriesOf(this.projectId, batch, Date.now())),
    );
  }

  /** In batches and single events, divided at random. */
  #divided(records: ModelRecord[]): ModelRecord[][] {
    if (records.length === 0) return [];
    const size = 1 + this.#random.below(this.#random.pick([1, 12]));
    return [records.slice(0, size), ...this.#divided(records.slice(size))];
  }

  /** Rows that were written in another way, including some that have expired. */
  async #insert(): Promise<void> {
    const records = this.#records(1 + this.#random.below(30));
    for (const record of records) this.model.write(record);
    await insertRows(this.#world, entriesOf(this.projectId, records, Date.now()));
  }

  /** The same rows once more, received later and with other content outside of the key. Each must count once. */
  async #repeat(): Promise<void> {
    const known = [...this.model.records.values()].filter(() => this.#random.chance(0.5));
    if (known.length === 0) return;
    const other = {
      role: 'repeated',
      tool_name: 'repeated',
      user_id: 'repeated',
      input_tokens: 7,
      cost_usd: 7,
    };
    const repeated = known.map((record) => ({ ...record, ...other }));
    const rows = entriesOf(this.projectId, repeated, Date.now() + 60_000);
    // A sole writer never does this: it finds such rows in the store when it starts.
    if (this.#writers === 'sole') await settled(this.#world.reads);
    await insertRows(this.#world, rows);
    if (this.#writers === 'sole') await this.#world.restart('sole');
  }

  async #merge(): Promise<void> {
    const { writer } = this.#world.store;
    for (const table of TABLES) await writer.command(`SYSTEM START MERGES ${table}`);
    const days = new Set(
      Array.from(this.model.records.values(), ({ occurredAtMs }) =>
        new Date(occurredAtMs).toISOString().slice(0, 10),
      ),
    );
    for (const day of [...days].filter(() => this.#random.chance(0.4)))
      for (const table of TABLES) await writer.command(`OPTIMIZE TABLE ${table} PARTITION '${day}' FINAL`);
  }

  async #ask(): Promise<void> {
    this.#asked += 1;
    const window = this.#window();
    const filters = this.#filters();
    const asked = { projectId: this.projectId, window, filters };
    const said = `${window.name ?? JSON.stringify(window)} ${JSON.stringify(filters)}`;
    const summary = await askSummary(this.#world, asked);
    this.#expect(`summary ${said}`, summary, this.model.summary(window, filters));
    const q = this.#random.chance(0.3) ? [this.#random.pick(SEARCHES)] : [];
    const searched = { ...asked, filters: { ...filters, q } };
    const buckets = await askBuckets(this.#world, searched);
    this.#expect(`timeseries ${said} ${q[0]}`, buckets, this.model.buckets(window, searched.filters));
    const broken = { by: this.#random.pick(DIMENSIONS), limit: this.#random.pick([1, 2, 1000]) };
    const breakdown = await askBreakdown(this.#world, asked, broken);
    const expected = this.model.breakdown(window, filters, broken);
    this.#expect(`breakdown ${said} ${JSON.stringify(broken)}`, breakdown, expected);
    await this.#askUsage(asked);
    await this.#askOne();
    if (this.#random.chance(0.5)) await this.#askList(searched);
    else await this.#askInvocations(asked);
  }

  async #askUsage(asked: Asked): Promise<void> {
    const broken = { by: this.#random.pick(USAGE_DIMENSIONS), limit: this.#random.pick([1, 2, 1000]) };
    const usage = await askUsage(this.#world, asked, broken);
    const expected = this.model.usage(asked.window, asked.filters, broken);
    this.#expect(`usage ${JSON.stringify({ ...asked, ...broken })}`, usage, expected);
  }

  async #askOne(): Promise<void> {
    const [first, ...others] = this.model.records.values();
    if (first === undefined) return;
    const record = this.#random.pick([first, ...others]);
    const { event_id, agent_name, tool_name, outcome, role, user_id, reason } = record;
    const one = await askOne(this.#world, {
      projectId: this.projectId,
      eventId: event_id.toUpperCase(),
      nowMs: this.#nowMs,
    });
    const isAlive = record.occurredAtMs >= this.#nowMs - 90 * DAY_MS;
    const recorded = [event_id, agent_name, tool_name, outcome, role, user_id, reason];
    this.#expect(`decision ${event_id}`, one, isAlive ? recorded : undefined);
  }

  async #askList(asked: Asked): Promise<void> {
    const { window, filters } = asked;
    const ids = this.model.ids(window, filters);
    const paging = this.#paging(ids.length);
    const list = await askIds(this.#world, { ...asked, ...paging });
    this.#expect(`decisions ${JSON.stringify({ ...asked, ...paging })}`, list, { total: ids.length, ids });
  }

  async #askInvocations(asked: Asked): Promise<void> {
    const items = this.model.invocations(asked.window, asked.filters);
    const paging = this.#paging(items.length);
    const list = await askInvocations(this.#world, { ...asked, ...paging });
    this.#expect(`model calls ${JSON.stringify({ ...asked, ...paging })}`, list, {
      total: items.length,
      items,
    });
  }

  /** All on one page, or on two or three of which the last may be full. */
  #paging(count: number) {
    const limit = this.#random.pick([1000, Math.max(2, Math.ceil(count / this.#random.pick([2, 3])))]);
    return { limit, by: this.#random.pick(['cursor', 'offset'] as const) };
  }

  /** Mostly the window that the events crowd around, or a range between two of the times that matter. */
  #window(): ReadWindow {
    if (this.#random.chance(0.5)) {
      const name = this.#random.chance(0.8) ? this.windowName : this.#random.pick(WINDOWS);
      return readWindow(name, this.#nowMs);
    }
    const edge = () => {
      const [record, ...others] = this.model.records.values();
      const isRecord = record !== undefined && this.#random.chance(0.5);
      return isRecord ? this.#random.pick([record, ...others]).occurredAtMs : this.#time();
    };
    const [one, other] = [edge(), edge() + this.#random.pick([0, 1])];
    const toMs = one === other ? one + 1 : Math.max(one, other);
    const fromMs = Math.max(Math.min(one, other), toMs - 90 * DAY_MS);
    const [from, to] = [fromMs, toMs].map((ms) => new Date(ms).toISOString());
    return readRange({ from, to }, this.#nowMs);
  }

  #expect(what: string, actual: unknown, expected: unknown): void {
    if (isDeepStrictEqual(actual, expected)) return;
    const texts = [actual, expected].map((value) => JSON.stringify(value));
    throw new Error(`${this.#writers}: ${what} answered\n${texts[0]}\nand should have answered\n${texts[1]}`);
  }

  #filters(): DecisionFilters {
    if (this.#random.chance(0.4)) return NO_FILTERS;
    const some = (values: readonly [string, ...string[]]) =>
      Array.from({ length: this.#random.chance(0.2) ? this.#random.below(3) : 0 }, () =>
        this.#random.pick(values),
      );
    const given: [string, string[]][] = [...FILTER_NAMES, 'model' as const].flatMap((name) => [
      [name, some(VALUES[name])],
      [`not_${name}`, some(VALUES[name])],
    ]);
    return { ...NO_FILTERS, ...(Object.fromEntries(given) as Partial<DecisionFilters>) };
  }

  #records(count: number): ModelRecord[] {
    return Array.from({ length: count }, () => ({
      event_id: this.#random.uuid(),
      occurredAtMs: this.#time(),
      agent_name: this.#random.pick(VALUES.agent),
      tool_name: this.#random.pick(VALUES.tool),
      outcome: this.#random.pick(VALUES.outcome),
      role: this.#random.pick(VALUES.role),
      user_id: this.#random.pick(VALUES.user_id),
      session_id: this.#random.pick(VALUES.session_id),
      error_type: this.#random.pick(['', 'policy_denied', 'timeout']),
      reason: this.#random.pick(VALUES.reason),
      arguments: this.#random.pick(ARGUMENTS),
      model: this.#random.pick(VALUES.model),
      input_tokens: this.#random.below(1000),
      output_tokens: this.#random.below(100),
      cached_input_tokens: this.#random.below(3),
      reasoning_tokens: this.#random.below(3),
      cost_usd: this.#random.pick(COSTS),
    }));
  }

  /** Near the relevant edges: of windows, hours and days, and of now; and a few anywhere. */
  #time(): number {
    const jitter = this.#random.pick([-1, 0, 0, 1, -1000, 1000, -HOUR_MS, HOUR_MS]);
    const edgeMs = this.#random.chance(0.7) ? readWindow(this.windowName, this.#nowMs).fromMs : this.#nowMs;
    const aheadMs = this.#nowMs + 300_000;
    switch (this.#random.below(5)) {
      case 0:
        return Math.min(edgeMs + jitter, aheadMs);
      case 1:
        return Math.min(Math.ceil(edgeMs / HOUR_MS) * HOUR_MS + jitter, aheadMs);
      case 2:
        return Math.min(Math.ceil(edgeMs / DAY_MS) * DAY_MS + jitter, aheadMs);
      case 3:
        return this.#nowMs - this.#random.below(DAY_MS);
      default:
        return this.#nowMs + this.#random.below(300_000);
    }
  }
}
