import { RETENTION_MS } from '../limits.ts';
import type { AuditReads } from '../records/days.ts';
import { sql } from '../store/sql.ts';
import { clickhouseDay, clickhouseSeconds, clickhouseTime, msFromClickhouse } from '../store/time.ts';
import { readInChunks } from './read-in-chunks.ts';
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

/** The longest look back for silence: a day of silence on the first of seven days. */
const CALLS_MS = 8 * DAY_MS + HOUR_MS;

/**
 * Reads the data that the rules evaluate, of all projects at once. The windows are read anew for each evaluation, exactly. The time
 * before them is read once an hour, from the projections.
 */
export class AlertReads {
  readonly #reads: AuditReads;
  #past: { key: string; past: Past } | undefined;

  constructor(reads: AuditReads) {
    this.#reads = reads;
  }

  async at(where: Where): Promise<Map<string, Seen>> {
    const past = await this.#pastOf(where);
    const counts = Map.groupBy(await this.#counts(where), ({ project_id }) => project_id);
    const seen = where.projectIds.map((projectId): [string, Seen] => {
      const now = (counts.get(projectId) ?? []).map(countsFrom);
      const agents = past.calls.get(projectId) ?? [];
      noteLastCalls(agents, now);
      return [
        projectId,
        { counts: now, history: (past.history.get(projectId) ?? []).map(historyFrom), agents },
      ];
    });
    return new Map(seen);
  }

  #counts({ projectIds, nowMs, signal }: Where): Promise<CountsRow[]> {
    const longFromMs = nowMs - WINDOWS_MS.long;
    const params = {
      long_from: clickhouseTime(longFromMs),
      short_from: clickhouseTime(nowMs - WINDOWS_MS.short),
      minute_from: clickhouseTime(nowMs - WINDOWS_MS.minute),
      until: clickhouseTime(nowMs),
    };
    const window = { sinceMs: longFromMs, beforeMs: nowMs, toMs: nowMs };
    return readInChunks(projectIds, (project_ids) =>
      this.#reads.days.decisions.query(sql('alert_counts'), { ...params, project_ids }, { window, signal }),
    );
  }

  async #pastOf(where: Where): Promise<Past> {
    const hourMs = Math.floor(where.nowMs / HOUR_MS) * HOUR_MS;
    const key = JSON.stringify([hourMs, where.projectIds]);
    if (this.#past?.key === key) return this.#past.past;
    const [history, calls] = [await this.#history(where, hourMs), await this.#calls(where, hourMs)];
    const past = {
      history: Map.groupBy(history, ({ project_id }) => project_id),
      calls: new Map(
        Array.from(
          Map.groupBy(calls, ({ project_id }) => project_id),
          ([id, rows]) => [id, rows.map(callsFrom)],
        ),
      ),
    };
    this.#past = { key, past };
    return past;
  }

  /** Up to the first hour that a window of this hour may reach into. */
  #history({ projectIds, signal }: Where, hourMs: number): Promise<HistoryRow[]> {
    const [untilMs, fromMs] = [hourMs - WINDOWS_MS.long, hourMs - WINDOWS_MS.long - BASELINE_MS];
    const params = {
      hours_from: clickhouseSeconds(fromMs),
      hours_until: clickhouseSeconds(untilMs),
      days_from: clickhouseDay(hourMs - RETENTION_MS),
      days_until: clickhouseDay(fromMs + DAY_MS),
    };
    const window = { sinceMs: fromMs, beforeMs: untilMs, toMs: untilMs };
    return readInChunks(projectIds, (project_ids) =>
      this.#reads.days.decisions.query(sql('alert_history'), { ...params, project_ids }, { window, signal }),
    );
  }

  #calls({ projectIds, signal }: Where, hourMs: number): Promise<CallsRow[]> {
    const hours = {
      hours_from: clickhouseSeconds(hourMs - CALLS_MS),
      hours_until: clickhouseSeconds(hourMs),
    };
    return readInChunks(projectIds, (project_ids) =>
      this.#reads.runRead<CallsRow>(sql('alert_calls'), { ...hours, project_ids }, signal),
    );
  }
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

function callsFrom({ agent_name, last_at, hours, calls }: CallsRow): AgentCalls {
  return {
    agent_name,
    lastMs: msFromClickhouse(last_at),
    hours: new Map(hours.map((seconds, index) => [seconds * 1000, calls[index] ?? 0])),
  };
}

/** Kept for the hour: a record that was late for the read of the past is in the windows only for a while. */
function noteLastCalls(agents: AgentCalls[], counts: ToolCounts[]): void {
  const lasts = new Map<string, number>();
  for (const { agent_name, lastMs = 0 } of counts)
    lasts.set(agent_name, Math.max(lastMs, lasts.get(agent_name) ?? 0));
  for (const agent of agents) agent.lastMs = Math.max(agent.lastMs, lasts.get(agent.agent_name) ?? 0);
}
