import type { Dimension } from '../../../server/records/breakdown.ts';
import {
  type DecisionFilters,
  FILTER_NAMES,
  type FilterName,
  NO_FILTERS,
} from '../../../server/records/filters.ts';
import type { UsageDimension } from '../../../server/records/llm-usage.ts';
import type { ReadWindow } from '../../../server/records/window.ts';

/** A record as the model keeps it: what the reads can return for the decision and for the model call that it represents. */
export type ModelRecord = {
  event_id: string;
  occurredAtMs: number;
  agent_name: string;
  tool_name: string;
  outcome: 'allow' | 'deny' | 'needs_approval';
  role: string;
  user_id: string;
  session_id: string;
  error_type: string;
  reason: string;
  /** JSON text, '' for null. */
  arguments: string;
  model: string;
  input_tokens: number;
  output_tokens: number;
  cached_input_tokens: number;
  reasoning_tokens: number;
  cost_usd: number | null;
};

const FIELDS = {
  agent: 'agent_name',
  role: 'role',
  outcome: 'outcome',
  tool: 'tool_name',
  user_id: 'user_id',
  session_id: 'session_id',
  reason: 'reason',
} as const satisfies Record<FilterName, keyof ModelRecord>;

/** Of model calls. */
const INVOCATION_FIELDS = {
  agent: 'agent_name',
  model: 'model',
  role: 'role',
  user_id: 'user_id',
  session_id: 'session_id',
} as const;

/** The field of each dimension of a breakdown. */
const DIMENSIONS = { ...FIELDS, error_type: 'error_type' } as const satisfies Record<
  Dimension,
  keyof ModelRecord
>;

const USAGE_DIMENSIONS = {
  model: 'model',
  agent: 'agent_name',
  user_id: 'user_id',
  session_id: 'session_id',
} as const satisfies Record<UsageDimension, keyof ModelRecord>;

export type Counts = { total: number; allow: number; deny: number; needs_approval: number };

/** The expected answers of the reads, computed in the simplest way from a list of records. */
export class Model {
  readonly records = new Map<string, ModelRecord>();

  /** The first write of an event_id wins. */
  write(record: ModelRecord): void {
    if (!this.records.has(record.event_id)) this.records.set(record.event_id, record);
  }

  summary(window: ReadWindow, filters: DecisionFilters) {
    const records = this.#inside(window, filters);
    const by = (field: 'agent_name' | 'role' | 'tool_name') =>
      Array.from(Map.groupBy(records, (record) => record[field]))
        .map(([name, group]) => ({ name, counts: countsOf(group) }))
        .sort((a, b) => b.counts.total - a.counts.total || compareBytes(a.name, b.name))
        .map(({ name, counts }) => ({ [field]: name, ...counts }));
    return {
      totals: countsOf(records),
      by_agent: by('agent_name'),
      by_role: by('role'),
      by_tool: by('tool_name'),
    };
  }

  buckets(window: ReadWindow, filters: DecisionFilters) {
    return bucketsOf(window, this.#inside(window, filters), countsOf);
  }

  breakdown(window: ReadWindow, filters: DecisionFilters, { by, limit }: { by: Dimension; limit: number }) {
    const groups = Map.groupBy(this.#inside(window, filters), (record) => record[DIMENSIONS[by]]);
    const all = Array.from(groups, ([value, group]) => ({
      item: { value, ...countsOf(group), ...timesOf(group) },
      group,
    })).sort((a, b) => b.item.total - a.item.total || compareBytes(a.item.value, b.item.value));
    const left = all.slice(limit);
    const others =
      left.length === 0 ? null : { entries: left.length, ...countsOf(left.flatMap(({ group }) => group)) };
    return { items: all.slice(0, limit).map(({ item }) => item), others };
  }

  usage(window: ReadWindow, filters: DecisionFilters, { by, limit }: { by: UsageDimension; limit: number }) {
    const records = this.#inside(window, usageFilters(filters));
    const all = Array.from(
      Map.groupBy(records, (record) => record[USAGE_DIMENSIONS[by]]),
      ([value, group]) => ({ item: { value, ...usageOf(group), ...timesOf(group) }, group }),
    ).sort(
      ({ item: a }, { item: b }) =>
        b.cost_usd - a.cost_usd || b.calls - a.calls || compareBytes(a.value, b.value),
    );
    const left = all.slice(limit);
    return {
      totals: usageOf(records),
      buckets: bucketsOf(window, records, usageOf),
      items: all.slice(0, limit).map(({ item }) => item),
      others:
        left.length === 0 ? null : { entries: left.length, ...usageOf(left.flatMap(({ group }) => group)) },
    };
  }

  /** The event_ids of the matching records, newest first. */
  ids(window: ReadWindow, filters: DecisionFilters): string[] {
    return newestFirst(this.#inside(window, filters)).map(({ event_id }) => event_id);
  }

  /** The matching model calls, newest first. */
  invocations(window: ReadWindow, filters: DecisionFilters) {
    const wanted = Object.entries(INVOCATION_FIELDS) as [keyof typeof INVOCATION_FIELDS, keyof ModelRecord][];
    const records = this.#during(window).filter((record) =>
      wanted.every(([name, field]) => passes(String(record[field]), name, filters)),
    );
    return newestFirst(records).map(({ event_id, role, user_id, input_tokens, cost_usd }) => ({
      event_id,
      role,
      user_id,
      input_tokens,
      cost_usd,
    }));
  }

  #during({ sinceMs, beforeMs }: ReadWindow): ModelRecord[] {
    return [...this.records.values()].filter(
      ({ occurredAtMs }) => occurredAtMs >= sinceMs && occurredAtMs < beforeMs,
    );
  }

  #inside(window: ReadWindow, filters: DecisionFilters): ModelRecord[] {
    return this.#during(window)
      .filter((record) => FILTER_NAMES.every((name) => passes(record[FIELDS[name]], name, filters)))
      .filter(({ reason, arguments: args }) =>
        filters.q.every((q) => [reason, args].some((text) => text.toLowerCase().includes(q.toLowerCase()))),
      );
  }
}

function bucketsOf<Sums>(
  { name, fromMs, toMs, bucketSeconds }: ReadWindow,
  records: ModelRecord[],
  sumsOf: (records: ModelRecord[]) => Sums,
) {
  const bucketMs = bucketSeconds * 1000;
  const newestMs = Math.max(toMs, ...records.map(({ occurredAtMs }) => occurredAtMs));
  const lastMs = name === null ? toMs - 1 : newestMs;
  const buckets: ({ start: string } & Sums)[] = [];
  for (let ms = Math.floor(fromMs / bucketMs) * bucketMs; ms <= lastMs; ms += bucketMs) {
    const inside = records.filter(({ occurredAtMs: at }) => at >= ms && at < ms + bucketMs);
    buckets.push({ start: new Date(ms).toISOString(), ...sumsOf(inside) });
  }
  return buckets;
}

function newestFirst(records: ModelRecord[]): ModelRecord[] {
  return records.sort((a, b) => b.occurredAtMs - a.occurredAtMs || (a.event_id < b.event_id ? 1 : -1));
}

function passes(value: string, name: FilterName | 'model', filters: DecisionFilters): boolean {
  const [any, none] = [filters[name], filters[`not_${name}`]];
  return (any.length === 0 || any.includes(value)) && !none.includes(value);
}

function countsOf(records: ModelRecord[]): Counts {
  const count = (wanted: string) => records.filter(({ outcome }) => outcome === wanted).length;
  return {
    total: records.length,
    allow: count('allow'),
    deny: count('deny'),
    needs_approval: count('needs_approval'),
  };
}

/** Model calls have these filters only. */
function usageFilters({
  agent,
  not_agent,
  user_id,
  not_user_id,
  session_id,
  not_session_id,
}: DecisionFilters) {
  return { ...NO_FILTERS, agent, not_agent, user_id, not_user_id, session_id, not_session_id };
}

function usageOf(records: ModelRecord[]) {
  const sum = (of: (record: ModelRecord) => number) => records.reduce((all, record) => all + of(record), 0);
  return {
    calls: records.length,
    input_tokens: sum(({ input_tokens }) => input_tokens),
    output_tokens: sum(({ output_tokens }) => output_tokens),
    cached_input_tokens: sum(({ cached_input_tokens }) => cached_input_tokens),
    reasoning_tokens: sum(({ reasoning_tokens }) => reasoning_tokens),
    cost_usd: sum(({ cost_usd }) => Math.round((cost_usd ?? 0) * 1e12)) / 1e12,
  };
}

function timesOf(records: ModelRecord[]) {
  const times = records.map(({ occurredAtMs }) => occurredAtMs);
  const [first, last] = [Math.min(...times), Math.max(...times)].map((ms) => new Date(ms).toISOString());
  return { first, last };
}

function compareBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
