import type { DecisionFilters } from '../../../server/records/decisions.ts';
import type { ReadWindow } from '../../../server/records/window.ts';

/** A record as the model keeps it: what the reads can tell of it. */
export type ModelRecord = {
  event_id: string;
  occurredAtMs: number;
  agent_name: string;
  tool_name: string;
  outcome: 'allow' | 'deny' | 'needs_approval';
  role: string;
  user_id: string;
  session_id: string;
};

export type Counts = { total: number; allow: number; deny: number; needs_approval: number };

/** What the reads must answer, computed the plain way from a list of records. */
export class Model {
  readonly records = new Map<string, ModelRecord>();

  /** The first write of an event_id wins. */
  write(record: ModelRecord): void {
    if (!this.records.has(record.event_id)) this.records.set(record.event_id, record);
  }

  summary(window: ReadWindow) {
    const records = this.#inside(window);
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

  buckets(window: ReadWindow) {
    const { fromMs, toMs, bucketSeconds } = window;
    const records = this.#inside(window);
    const bucketMs = bucketSeconds * 1000;
    const newestMs = Math.max(toMs, ...records.map(({ occurredAtMs }) => occurredAtMs));
    const buckets = [];
    for (let ms = Math.floor(fromMs / bucketMs) * bucketMs; ms <= newestMs; ms += bucketMs) {
      const inside = records.filter(({ occurredAtMs: at }) => at >= ms && at < ms + bucketMs);
      buckets.push({ start: new Date(ms).toISOString(), ...countsOf(inside) });
    }
    return buckets;
  }

  /** The event_ids of the matching records, newest first. */
  ids(window: ReadWindow, filters: DecisionFilters): string[] {
    const { agent, role, outcome, tool, user_id, session_id } = filters;
    const matches = (wanted: string | null, value: string) => wanted === null || wanted === value;
    return this.#inside(window)
      .filter((record) => matches(agent, record.agent_name) && matches(role, record.role))
      .filter((record) => matches(outcome, record.outcome) && matches(tool, record.tool_name))
      .filter((record) => matches(user_id, record.user_id) && matches(session_id, record.session_id))
      .sort((a, b) => b.occurredAtMs - a.occurredAtMs || (a.event_id < b.event_id ? 1 : -1))
      .map(({ event_id }) => event_id);
  }

  #inside({ fromMs }: ReadWindow): ModelRecord[] {
    return [...this.records.values()].filter(({ occurredAtMs }) => occurredAtMs >= fromMs);
  }
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

function compareBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
