import { chanceOf, type Share } from './fisher.ts';
import { DAY_MS, HOUR_MS } from '../durations.ts';

export const RULES = ['denials', 'new_names', 'silence'] as const;
export type Rule = (typeof RULES)[number];

/**
 * The windows that end at an evaluation. The shorter a window, the less usual traffic dilutes a spike that has just begun. The longer ones
 * find spikes that are too small for a minute.
 */
export const WINDOWS_MS = { minute: 60_000, short: 5 * 60_000, long: HOUR_MS } as const;
export const WINDOWS = ['minute', 'short', 'long'] as const;
export type InWindows = Record<(typeof WINDOWS)[number], Share>;
/** Denial shares are compared with those of this long before. */
export const BASELINE_MS = 7 * DAY_MS;

/** One agent's calls of one tool. Times are milliseconds since the epoch. */
export type ToolCounts = InWindows & {
  agent_name: string;
  tool_name: string;
  /** Its first and last call in them; undefined when there is none. */
  firstMs: number | undefined;
  lastMs: number | undefined;
};
/** One agent's calls of one tool before the windows. */
export type ToolHistory = Share & { agent_name: string; tool_name: string; firstMs: number };

/** The finding of a rule. `tool_name` is '' if it concerns all tools of the agent. */
export type Finding = {
  rule: Rule;
  agent_name: string;
  tool_name: string;
  fromMs: number;
  toMs: number;
  /** In the range, and in the baseline; for a silent agent, the expected calls. */
  total: number;
  denied: number;
  usual: Share;
};

/**
 * The false alarms that chance alone may cause in one project, per day: fewer than one in two years. The threshold of a
 * comparison is this number divided by all comparisons of a day (Bonferroni), though neighbouring windows overlap and so make
 * far fewer independent ones.
 */
const FALSE_ALARMS_A_DAY = 0.001;
const EVALUATIONS_A_DAY = 24 * 60;
/** Fewer denials may have any cause. */
const DENIALS_MIN = 5;
/** A significant difference may still be small: the odds of a denial must be at least this many times the usual ones. */
const ODDS_RATIO_MIN = 3;

type Group = InWindows & { agent_name: string; tool_name: string; before: Share };

/**
 * Denial shares far above their own baseline, by agent and by agent and tool. For each agent, only the group that is least likely by chance
 * is reported.
 */
export function findDenials(counts: ToolCounts[], history: ToolHistory[], nowMs: number): Finding[] {
  const groups = groupsOf(counts, history);
  const chanceMax = FALSE_ALARMS_A_DAY / (EVALUATIONS_A_DAY * WINDOWS.length * Math.max(1, groups.length));
  const found = new Map<string, { chance: number; finding: Finding }>();
  for (const group of groups) {
    const { agent_name, tool_name, before } = group;
    for (const window of WINDOWS) {
      const now = group[window];
      if (!isFarAbove(now, before)) continue;
      const chance = chanceOf(now, before);
      if (chance > chanceMax || chance >= (found.get(agent_name)?.chance ?? 1)) continue;
      const range = { fromMs: nowMs - WINDOWS_MS[window], toMs: nowMs };
      const finding = { rule: 'denials', agent_name, tool_name, ...range, ...now, usual: before } as const;
      found.set(agent_name, { chance, finding });
    }
  }
  return Array.from(found.values(), ({ finding }) => finding);
}

function isFarAbove(now: Share, before: Share): boolean {
  if (now.denied < DENIALS_MIN) return false;
  // Compares odds without a division, because either may be infinite.
  const allowed = now.total - now.denied;
  return now.denied * (before.total - before.denied) >= ODDS_RATIO_MIN * before.denied * allowed;
}

function groupsOf(counts: ToolCounts[], history: ToolHistory[]): Group[] {
  const agents = new Map<string, Map<string, Group>>();
  const none = () => ({ total: 0, denied: 0 });
  const groupOf = (agent_name: string, tool_name: string) => {
    const tools = agents.get(agent_name) ?? new Map<string, Group>();
    agents.set(agent_name, tools);
    const shares = () => ({ minute: none(), short: none(), long: none(), before: none() });
    const group = tools.get(tool_name) ?? { agent_name, tool_name, ...shares() };
    tools.set(tool_name, group);
    return group;
  };
  for (const counted of counts) {
    const { agent_name, tool_name } = counted;
    for (const group of [groupOf(agent_name, ''), groupOf(agent_name, tool_name)])
      for (const window of WINDOWS) add(group[window], counted[window]);
  }
  for (const share of history) {
    const tools = agents.get(share.agent_name);
    for (const group of [tools?.get(''), tools?.get(share.tool_name)])
      if (group !== undefined) add(group.before, share);
  }
  return Array.from(agents.values(), (tools) => [...tools.values()]).flat();
}

function add(sum: Share, { total, denied }: Share): void {
  sum.total += total;
  sum.denied += denied;
}

/** No name has a NUL. */
export function keyOf(agent_name: string, tool_name: string): string {
  return `${agent_name}\0${tool_name}`;
}

/** On the first day of an agent or a project, everything is new. */
const LEARNING_MS = DAY_MS;

/** Agents that are new in the project, and tools that are new for an agent. The tools of a new agent are not reported separately. */
export function findNewNames(counts: ToolCounts[], history: ToolHistory[], nowMs: number): Finding[] {
  const firsts = new Map<string, Map<string, number>>();
  let projectFirstMs = nowMs;
  for (const { agent_name, tool_name, firstMs } of history) {
    projectFirstMs = Math.min(projectFirstMs, firstMs);
    const tools = firsts.get(agent_name) ?? new Map<string, number>();
    tools.set('', Math.min(tools.get('') ?? nowMs, firstMs)).set(tool_name, firstMs);
    firsts.set(agent_name, tools);
  }
  if (nowMs - projectFirstMs < LEARNING_MS) return [];
  const found = new Map<string, Finding>();
  for (const { agent_name, tool_name, firstMs, long } of counts) {
    if (firstMs === undefined || long.total === 0) continue;
    const tools = firsts.get(agent_name);
    if (tools?.has(tool_name)) continue;
    const agentFirstMs = tools?.get('');
    if (agentFirstMs !== undefined && nowMs - agentFirstMs < LEARNING_MS) continue;
    const tool = agentFirstMs === undefined ? '' : tool_name;
    const known = found.get(keyOf(agent_name, tool));
    const total = long.total + (known?.total ?? 0);
    const denied = long.denied + (known?.denied ?? 0);
    const fromMs = Math.min(firstMs, known?.fromMs ?? firstMs);
    const usual = { total: 0, denied: 0 };
    const finding = { agent_name, tool_name: tool, fromMs, toMs: nowMs, total, denied, usual };
    found.set(keyOf(agent_name, tool), { rule: 'new_names', ...finding });
  }
  return [...found.values()];
}

/** How often an agent called, by the start of each hour. */
type HourlyCalls = ReadonlyMap<number, number>;
export type AgentCalls = { agent_name: string; lastMs: number; hours: HourlyCalls };

/** Silence is reported when each of the last seven days had at least this many calls at the same time. */
const MISSED_CALLS_MIN = 30;
const DAYS_COMPARED = 7;
/** A longer silence has been reported already, or the agent is gone. */
const SILENCE_MS_MAX = DAY_MS;

/**
 * Agents that have gone silent: since their last call, each of the last seven days had at least 30 calls at the same time of day. A week
 * includes a weekend, so the quietest day is the measure. If calls are independent (Poisson), an agent as busy as last week is silent by
 * chance with a probability below 1e-10, whatever its rate: P(N = 0) · P(N >= 30) is largest at 15 calls. `watchedSinceMs`: for earlier
 * times, it is unknown whether an agent was silent.
 */
export function findSilence(agents: AgentCalls[], watchedSinceMs: number, nowMs: number): Finding[] {
  return agents.flatMap(({ agent_name, lastMs, hours }) => {
    const fromMs = Math.max(lastMs, watchedSinceMs);
    if (fromMs >= nowMs || nowMs - lastMs > SILENCE_MS_MAX) return [];
    let total = Infinity;
    for (let day = 1; day <= DAYS_COMPARED && total >= MISSED_CALLS_MIN; day += 1)
      total = Math.min(total, Math.floor(callsBetween(hours, fromMs - day * DAY_MS, nowMs - day * DAY_MS)));
    if (total < MISSED_CALLS_MIN) return [];
    // From the last call on, which identifies the silence.
    const range = { fromMs: lastMs, toMs: nowMs, total: 0, denied: 0 };
    return [{ rule: 'silence', agent_name, tool_name: '', ...range, usual: { total, denied: 0 } }];
  });
}

/** For an hour that is only partly in the range, the same fraction of its calls. */
function callsBetween(hours: HourlyCalls, fromMs: number, toMs: number): number {
  let calls = 0;
  for (let hour = Math.floor(fromMs / HOUR_MS) * HOUR_MS; hour < toMs; hour += HOUR_MS) {
    const part = (Math.min(toMs, hour + HOUR_MS) - Math.max(fromMs, hour)) / HOUR_MS;
    calls += part * (hours.get(hour) ?? 0);
  }
  return calls;
}
