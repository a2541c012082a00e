import { callsOf, FLEET_AGENTS, type FleetCall, VARIANTS } from './fleet-agents.ts';
import { DAY_MS } from '../durations.ts';
import { clickhouseDay } from '../store/time.ts';

/** A period, in seconds of its day, in which one agent (counted from 1) is denied far more often than usual. */
type Incident = { agent: number; fromSecond: number; toSecond: number; rate: number };
export type FleetDay = { day: string; rows: number; incidents: Incident[] };
type FleetSize = { rows: number; days: number; seed: number; nowMs: number };

/** Busy office hours in Europe and America, quiet nights (UTC). */
const HOUR_WEIGHTS = [3, 2, 2, 2, 2, 3, 5, 8, 11, 13, 14, 14, 13, 14, 15, 15, 14, 13, 12, 10, 8, 6, 5, 4];
/** Sunday first. */
const WEEKDAY_WEIGHTS = [0.35, 1.05, 1.1, 1.1, 1.05, 0.95, 0.4];
/** On average, one day in this many has a spell of denials. */
const INCIDENT_EVERY_DAYS = 10;

export const FLEET_USERS = 20_000;
/** The share of each hour of a day, cumulative. */
export const HOUR_SHARES = cumulative(HOUR_WEIGHTS);

/** Distributes `rows` over the last `days` days: weekends are quiet, traffic grows a little, incidents are random. */
export function fleetDays({ rows, days, seed, nowMs }: FleetSize): FleetDay[] {
  const random = createRandom(seed);
  const todayMs = Math.floor(nowMs / DAY_MS) * DAY_MS;
  const plan = Array.from({ length: days }, (_, index) => {
    const ms = todayMs - (days - 1 - index) * DAY_MS;
    const weekday = WEEKDAY_WEIGHTS[new Date(ms).getUTCDay()] ?? 1;
    const weight = weekday * (1 + index / days / 2) * (0.9 + 0.2 * random());
    return { ms, weight, incidents: incidentsOfDay(random) };
  });
  const elapsed = (ms: number) => (ms === todayMs ? shareUntil(nowMs - todayMs) : 1);
  const sum = plan.reduce((total, { ms, weight }) => total + weight * elapsed(ms), 0);
  // Today's rows are generated for the whole day; the query leaves out those in the future.
  return plan.map(({ ms, weight, incidents }) => ({
    day: clickhouseDay(ms),
    rows: Math.round((rows * weight) / sum),
    incidents,
  }));
}

function incidentsOfDay(random: () => number): Incident[] {
  if (random() >= 1 / INCIDENT_EVERY_DAYS) return [];
  const fromSecond = Math.floor(random() * 20 * 3600);
  const toSecond = fromSecond + 900 + Math.floor(random() * 3 * 3600);
  const agent = 1 + Math.floor(random() * FLEET_AGENTS.length);
  return [{ agent, fromSecond, toSecond, rate: 0.4 + 0.5 * random() }];
}

/** The share of a day's rows up to this long after midnight. */
function shareUntil(elapsedMs: number): number {
  const hours = elapsedMs / (60 * 60 * 1000);
  const whole = Math.floor(hours);
  const before = whole === 0 ? 0 : (HOUR_SHARES[whole - 1] ?? 1);
  return before + ((HOUR_SHARES[whole] ?? 1) - before) * (hours - whole);
}

/** The same on every day, because the policies take 20 ms to decide them. */
let calls: ReturnType<typeof tupleOf>[] | undefined;

/** The parameter `fleet` of fleet_day.sql and fleet_usage_day.sql. */
export function fleetJson({ incidents }: FleetDay, versionIds: string[]): string {
  const of = <T>(field: (agent: (typeof FLEET_AGENTS)[number]) => T) => FLEET_AGENTS.map(field);
  return JSON.stringify({
    hours: HOUR_SHARES,
    agents: of(({ name }) => name),
    agent_shares: cumulative(of(({ share }) => share)),
    agent_versions: versionIds,
    roles: of(({ roles }) => roles),
    tool_counts: of(({ tools }) => Object.keys(tools).length),
    variants: VARIANTS,
    calls: (calls ??= FLEET_AGENTS.flatMap(callsOf).map(tupleOf)),
    models: of(({ model }) => model),
    model_prices: of(({ usd_per_million_tokens }) => usd_per_million_tokens),
    incident_agents: incidents.map(({ agent }) => agent),
    incident_from: incidents.map(({ fromSecond }) => fromSecond),
    incident_to: incidents.map(({ toSecond }) => toSecond),
    incident_rates: incidents.map(({ rate }) => rate),
  });
}

/** In the order of fleet_day.sql. Without names, because a server accepts parameters of at most 128 KiB. */
function tupleOf({
  agent,
  role,
  tool,
  variant,
  role_name,
  tool_name,
  arguments: given,
  decision,
}: FleetCall) {
  const { outcome, reason, violations, hint } = decision;
  const hintText = hint === null ? '' : JSON.stringify(hint);
  return [agent, role, tool, variant, role_name, tool_name, given, outcome, reason, violations, hintText];
}

/** Cumulative shares, the last of them a little over 1 so that every random number finds its place. */
function cumulative(weights: number[]): number[] {
  const sum = weights.reduce((a, b) => a + b, 0);
  let running = 0;
  const shares = weights.map((weight) => (running += weight / sum));
  return [...shares.slice(0, -1), 1.000001];
}

/** A small seeded generator (mulberry32): the same seed makes the same fleet. */
function createRandom(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t = (t + Math.imul(t ^ (t >>> 7), t | 61)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}
