import { chunksOf } from '../commit/identity.ts';
import { ALERT_NAMES_MAX, RETENTION_MS } from '../limits.ts';
import type { AuditReads } from '../records/days.ts';
import { hourOf } from '../records/ledger.ts';
import { sql } from '../store/sql.ts';
import { hasReadTooMuch } from '../store/store-error.ts';
import { clickhouseDay, clickhouseSeconds, clickhouseTime, msFromClickhouse } from '../store/time.ts';
import {
  type AgentCalls,
  BASELINE_MS,
  type InWindows,
  type ToolCounts,
  type ToolHistory,
  WINDOWS_MS,
} from './rules.ts';
import { DAY_MS, HOUR_MS } from '../durations.ts';

type Named = { project_id: string; agent_name: string; tool_name: string };
type CountsRow = Named &
  Record<`${keyof InWindows}_${'total' | 'denied'}`, number> &
  Record<'first_at' | 'last_at', string>;
type HistoryRow = Named & { total: number; denied: number; first_at: string };
type CallsRow = Omit<Named, 'tool_name'> & { last_at: string; hours: number[]; calls: number[] };

/** The data that the rules evaluate, by project. */
export type Seen = { counts: ToolCounts[]; history: ToolHistory[]; agents: AgentCalls[] };
type Past = { history: Map<string, HistoryRow[]>; calls: Map<string, AgentCalls[]> };
type Where = { projectIds: string[]; nowMs: number; signal: AbortSignal };
/** Projects that are read together, and their history once it was read. */
type Group = { projectIds: string[]; past?: Past };

/** The longest look back for silence: a day of silence on the first of seven days. */
const CALLS_MS = 8 * DAY_MS + HOUR_MS;

/**
 * Reads the data that the rules evaluate, of many projects at once. The windows are read again for each evaluation, exactly. The time
 * before them is read once an hour, from the projections.
 */
export class AlertReads {
  readonly #reads: AuditReads;
  readonly #groups = new Set<Group>();
  #hourMs = 0;

  constructor(reads: AuditReads) {
    this.#reads = reads;
  }

  /**
   * The data by project, without projects that are too large for a statement. A group that is too large is split for the rest of the hour,
   * so that only the project that causes this fails.
   */
  async at(where: Where): Promise<Map<string, Seen>> {
    const groups = this.#groupsOf(where);
    const seen = new Map<string, Seen>();
    // The loop also covers the halves that it adds.
    for (const group of groups) {
      try {
        for (const [projectId, one] of await this.#read(group, where)) seen.set(projectId, one);
      } catch (error) {
        if (!hasReadTooMuch(error)) throw error;
        const { length } = group.projectIds;
        if (length === 1) continue;
        groups.delete(group);
        for (const half of chunksOf(group.projectIds, Math.ceil(length / 2)))
          groups.add({ projectIds: half });
      }
    }
    return seen;
  }

  /** The fewest groups possible at the start of an hour, plus one group for the projects that are new in it. */
  #groupsOf({ projectIds, nowMs }: Where): Set<Group> {
    const hourMs = hourOf(nowMs);
    if (hourMs !== this.#hourMs) this.#groups.clear();
    this.#hourMs = hourMs;
    const known = new Set(Array.from(this.#groups, (group) => group.projectIds).flat());
    for (const chunk of chunksOf(projectIds.filter((id) => !known.has(id))))
      this.#groups.add({ projectIds: chunk });
    return this.#groups;
  }

  async #read(group: Group, where: Where): Promise<[string, Seen][]> {
    const { projectIds } = group;
    const past = (group.past ??= await this.#pastOf({ ...where, projectIds }));
    const counts = Map.groupBy(await this.#counts({ ...where, projectIds }), projectOf);
    return projectIds.map((projectId) => {
      const now = (counts.get(projectId) ?? []).map(countsFrom);
      const history = (past.history.get(projectId) ?? []).map(historyFrom);
      // With more names than are read, it is unknown whether an agent still calls.
      const agents = now.length < ALERT_NAMES_MAX ? (past.calls.get(projectId) ?? []) : [];
      noteLastCalls(agents, now);
      return [projectId, { counts: now, history, agents }];
    });
  }

  #counts({ projectIds, nowMs, signal }: Where): Promise<CountsRow[]> {
    const longFromMs = nowMs - WINDOWS_MS.long;
    const params = {
      project_ids: projectIds,
      names_max: ALERT_NAMES_MAX,
      long_from: clickhouseTime(longFromMs),
      short_from: clickhouseTime(nowMs - WINDOWS_MS.short),
      minute_from: clickhouseTime(nowMs - WINDOWS_MS.minute),
      until: clickhouseTime(nowMs),
    };
    const window = { sinceMs: longFromMs, beforeMs: nowMs, toMs: nowMs };
    return this.#reads.days.decisions.query(sql('alert_counts'), params, { window, signal });
  }

  async #pastOf(where: Where): Promise<Past> {
    const hourMs = hourOf(where.nowMs);
    const [history, calls] = [await this.#history(where, hourMs), await this.#calls(where, hourMs)];
    return { history: Map.groupBy(history, projectOf), calls: Map.groupBy(calls.map(callsFrom), projectOf) };
  }

  /** Up to the first hour that a window of this hour may reach into. */
  #history({ projectIds, signal }: Where, hourMs: number): Promise<HistoryRow[]> {
    const [untilMs, fromMs] = [hourMs - WINDOWS_MS.long, hourMs - WINDOWS_MS.long - BASELINE_MS];
    const params = {
      project_ids: projectIds,
      names_max: ALERT_NAMES_MAX,
      hours_from: clickhouseSeconds(fromMs),
      hours_until: clickhouseSeconds(untilMs),
      days_from: clickhouseDay(hourMs - RETENTION_MS),
      days_until: clickhouseDay(fromMs + DAY_MS),
    };
    const window = { sinceMs: fromMs, beforeMs: untilMs, toMs: untilMs };
    return this.#reads.days.decisions.query(sql('alert_history'), params, { window, signal });
  }

  #calls({ projectIds, signal }: Where, hourMs: number): Promise<CallsRow[]> {
    const params = {
      project_ids: projectIds,
      names_max: ALERT_NAMES_MAX,
      hours_from: clickhouseSeconds(hourMs - CALLS_MS),
      hours_until: clickhouseSeconds(hourMs),
    };
    return this.#reads.runRead<CallsRow>(sql('alert_calls'), params, signal);
  }
}

function projectOf({ project_id }: { project_id: string }): string {
  return project_id;
}

function countsFrom({ agent_name, tool_name, first_at, last_at, ...row }: CountsRow): ToolCounts {
  return {
    agent_name,
    tool_name,
    minute: { total: row.minute_total, denied: row.minute_denied },
    short: { total: row.short_total, denied: row.short_denied },
    long: { total: row.long_total, denied: row.long_denied },
    firstMs: msFromClickhouse(first_at),
    lastMs: msFromClickhouse(last_at),
  };
}

function historyFrom({ agent_name, tool_name, total, denied, first_at }: HistoryRow): ToolHistory {
  return { agent_name, tool_name, total, denied, firstMs: msFromClickhouse(first_at) };
}

function callsFrom({ project_id, agent_name, last_at, hours, calls }: CallsRow) {
  return {
    project_id,
    agent_name,
    lastMs: msFromClickhouse(last_at),
    hours: new Map(hours.map((seconds, index) => [seconds * 1000, calls[index] ?? 0])),
  };
}

/** Kept for the hour: records that missed the read of the history are only briefly in the windows. */
function noteLastCalls(agents: AgentCalls[], counts: ToolCounts[]): void {
  const lasts = new Map<string, number>();
  for (const { agent_name, lastMs = 0 } of counts)
    lasts.set(agent_name, Math.max(lastMs, lasts.get(agent_name) ?? 0));
  for (const agent of agents) agent.lastMs = Math.max(agent.lastMs, lasts.get(agent.agent_name) ?? 0);
}
