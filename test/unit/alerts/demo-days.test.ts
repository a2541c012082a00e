import { expect } from 'chai';
import {
  type AgentCalls,
  BASELINE_MS,
  type Finding,
  findDenials,
  findNewNames,
  findSilence,
  keyOf,
  type ToolCounts,
  type ToolHistory,
  WINDOWS,
  WINDOWS_MS,
} from '../../../server/alerts/rules.ts';
import type { Share } from '../../../server/alerts/fisher.ts';
import { callsOf, FLEET_AGENTS, VARIANTS } from '../../../server/demo/fleet-agents.ts';
import { type FleetDay, fleetDays, HOUR_SHARES } from '../../../server/demo/fleet-plan.ts';
import { Random } from '../../support/random.ts';
import { DAY_MS, HOUR_MS } from '../../../server/durations.ts';

const DAYS = 90;
/** As the service. */
const EVERY_MS = 60_000;
/** How many fleets are generated, each with its own seed. */
const FLEETS = Number(process.env['GATE_TEST_FLEETS'] ?? 1);
const END_MS = Date.UTC(2026, 5, 10);
const LEARNING_DAYS = 8;

type Call = { atMs: number; agent_name: string; tool_name: string; isDenied: boolean };

/** The calls that are denied, by agent, role, tool and variant, from 1. */
const DENIED = new Set(
  FLEET_AGENTS.flatMap(callsOf)
    .filter(({ decision }) => decision.outcome === 'deny')
    .map(({ agent, role, tool, variant }) => [agent, role, tool, variant].join()),
);
const SHARES = FLEET_AGENTS.map(({ share }) => share);
const SHARE_SUM = SHARES.reduce((sum, share) => sum + share, 0);

/** The calls of one day, generated as in clickhouse/query/fleet_day.sql. */
function callsOfDay({ day, rows, incidents }: FleetDay, random: () => number): Call[] {
  const calls = Array.from({ length: rows }, () => {
    let left = random() * SHARE_SUM;
    const agent = SHARES.findIndex((share) => (left -= share) < 0);
    const u = random();
    const second = (HOUR_SHARES.findIndex((share) => u < share) + random()) * 3600;
    const { name, roles, ...given } = FLEET_AGENTS[agent] as (typeof FLEET_AGENTS)[number];
    const tools = Object.keys(given.tools);
    const incident = incidents.find(
      (one) => one.agent === agent + 1 && second >= one.fromSecond && second < one.toSecond,
    );
    const isIncident = random() < (incident?.rate ?? 0);
    const [tool, role] = [tools, roles].map(({ length }) =>
      isIncident ? length - 1 : Math.floor(length * random() ** 2),
    ) as [number, number];
    const variant = Math.floor(VARIANTS * random() ** 2);
    const isDenied = DENIED.has([agent, role, tool, variant].map((place) => place + 1).join());
    const names = { agent_name: name, tool_name: tools[tool] ?? '' };
    return { atMs: Date.parse(day) + second * 1000, ...names, isDenied };
  });
  return calls.sort((a, b) => a.atMs - b.atMs);
}

/** The state of a project over time: what the statements of an evaluation would count. */
class Clockwork {
  readonly #pairs = new Map<string, { counts: ToolCounts; hours: Map<number, Share>; firstMs: number }>();
  readonly #agents = new Map<string, AgentCalls & { hours: Map<number, number> }>();
  /** In the windows, oldest first. */
  readonly #calls: Call[] = [];
  readonly #from = { minute: 0, short: 0, long: 0 };

  add(call: Call): void {
    const { agent_name, atMs, isDenied } = call;
    const pair = this.#pairOf(call);
    const hour = Math.floor(atMs / HOUR_MS) * HOUR_MS;
    const share = pair.hours.get(hour) ?? { total: 0, denied: 0 };
    pair.hours.set(hour, share);
    for (const one of [share, ...WINDOWS.map((window) => pair.counts[window])]) {
      one.total += 1;
      one.denied += Number(isDenied);
    }
    Object.assign(pair.counts, { firstMs: atMs, lastMs: atMs });
    const agent = this.#agents.get(agent_name) ?? { agent_name, lastMs: atMs, hours: new Map() };
    agent.lastMs = atMs;
    agent.hours.set(hour, (agent.hours.get(hour) ?? 0) + 1);
    this.#agents.set(agent_name, agent);
    this.#calls.push(call);
  }

  #pairOf({ agent_name, tool_name, atMs }: Call) {
    const key = keyOf(agent_name, tool_name);
    const none = () => ({ total: 0, denied: 0 });
    const windows = { minute: none(), short: none(), long: none() };
    const counts = { agent_name, tool_name, ...windows, firstMs: atMs, lastMs: atMs };
    const pair = this.#pairs.get(key) ?? { counts, hours: new Map<number, Share>(), firstMs: atMs };
    this.#pairs.set(key, pair);
    return pair;
  }

  countsAt(nowMs: number): ToolCounts[] {
    for (const window of WINDOWS) this.#leave(window, nowMs);
    return Array.from(this.#pairs.values(), ({ counts }) => counts).filter(({ long }) => long.total > 0);
  }

  #leave(window: (typeof WINDOWS)[number], nowMs: number): void {
    for (; (this.#calls[this.#from[window]]?.atMs ?? nowMs) < nowMs - WINDOWS_MS[window];) {
      const call = this.#calls[this.#from[window]++] as Call;
      const share = this.#pairOf(call).counts[window];
      share.total -= 1;
      share.denied -= Number(call.isDenied);
    }
  }

  historyAt(nowMs: number): ToolHistory[] {
    const untilMs = Math.floor(nowMs / HOUR_MS) * HOUR_MS - WINDOWS_MS.long;
    return Array.from(this.#pairs.values(), ({ counts: { agent_name, tool_name }, hours, firstMs }) => {
      const sum = { agent_name, tool_name, total: 0, denied: 0, firstMs };
      for (const [hour, share] of hours)
        if (hour < untilMs - BASELINE_MS) hours.delete(hour);
        else if (hour < untilMs) {
          sum.total += share.total;
          sum.denied += share.denied;
        }
      return sum;
    }).filter(({ firstMs }) => firstMs < untilMs);
  }

  agents(): AgentCalls[] {
    return [...this.#agents.values()];
  }
}

/** Evaluates all three rules repeatedly, as the service does, and returns the findings. */
function evaluateDays(days: FleetDay[], random: () => number): Finding[] {
  const found: Finding[] = [];
  const project = new Clockwork();
  const startMs = Date.parse(days[0]?.day ?? '');
  let history: ToolHistory[] = [];
  for (const plan of days) {
    const calls = callsOfDay(plan, random);
    const dayMs = Date.parse(plan.day);
    let next = 0;
    for (let nowMs = dayMs; nowMs < dayMs + DAY_MS; nowMs += EVERY_MS) {
      for (; (calls[next]?.atMs ?? nowMs) < nowMs; next += 1) project.add(calls[next] as Call);
      const counts = project.countsAt(nowMs);
      if (nowMs % HOUR_MS === 0) history = project.historyAt(nowMs);
      if (nowMs - startMs < LEARNING_DAYS * DAY_MS) continue;
      found.push(...findDenials(counts, history, nowMs));
      found.push(...findNewNames(counts, history, nowMs));
      found.push(...findSilence(project.agents(), startMs, nowMs));
    }
  }
  return found;
}

/** Whether an agent was in an incident in the range of a finding. */
function isTrue({ rule, agent_name, fromMs, toMs }: Finding, days: FleetDay[]): boolean {
  const incidents = days.flatMap(({ day, incidents: list }) =>
    list.map((one) => ({
      agent_name: FLEET_AGENTS[one.agent - 1]?.name,
      fromMs: Date.parse(day) + one.fromSecond * 1000,
      toMs: Date.parse(day) + one.toSecond * 1000,
    })),
  );
  return (
    rule === 'denials' &&
    incidents.some((one) => one.agent_name === agent_name && one.fromMs < toMs && one.toMs > fromMs)
  );
}

function draw(seed: number): () => number {
  const random = new Random(seed);
  return () => random.real();
}

describe('the rules on 90 days of the demo fleet', function () {
  // 120,000 evaluations take 16 s of a processor, which other suites use as well.
  this.timeout(FLEETS * 120_000);

  it(`report only incidents, with each of ${FLEETS} seeds`, () => {
    const told = Array.from({ length: FLEETS }, (_, index) => {
      const seed = 1393 + index;
      const days = fleetDays({ rows: 320_000, days: DAYS, seed, nowMs: END_MS - 1 });
      const found = evaluateDays(days, draw(seed));
      const isFalse = (one: Finding) => !isTrue(one, days);
      return {
        falseAlarms: found.filter(isFalse),
        agents: new Set(found.map(({ agent_name }) => agent_name)),
      };
    });

    expect(told.flatMap(({ falseAlarms }) => falseAlarms)).to.deep.equal([]);
    // Not every fleet has an incident in which calls are denied.
    expect(told.reduce((sum, { agents }) => sum + agents.size, 0)).to.be.above(FLEETS);
  });
});
