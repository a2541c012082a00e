import { expect } from 'chai';
import { FlushNumbers } from '../../../server/commit/flush-numbers.ts';
import { createTypescriptEngine, parsePolicy } from '../../../client/policy/language/index.ts';
import { FLEET_AGENTS, policyOf } from '../../../server/demo/fleet-agents.ts';
import { fillFleet, type FleetOptions } from '../../../server/demo/fleet-fill.ts';
import { fleetDays, fleetJson } from '../../../server/demo/fleet-plan.ts';
import { sql } from '../../../server/store/sql.ts';
import type { Store } from '../../../server/store/store.ts';
import { clickhouseTime } from '../../../server/store/time.ts';
import { openStore } from '../../support/engine.ts';
import { storeDirectory } from '../../support/service.ts';
import { DAY_MS } from '../../../server/durations.ts';

const YESTERDAY_MS = Math.floor(Date.now() / DAY_MS) * DAY_MS - 1;
/** A day costs more than its rows. */
const SIZE = { rows: 60_000, days: 7, nowMs: YESTERDAY_MS };
const SEED = 1;

describe('the demo fleet, on the embedded engine', () => {
  let store: Store;
  before(async () => {
    store = await openStore(await storeDirectory());
    await fill('fleet', { ...SIZE, seed: SEED });
  });
  after(() => store.close());

  const fill = (
    projectId: string,
    size: typeof SIZE & { seed: number },
    options: Partial<FleetOptions> = {},
  ) =>
    fillFleet(store.background, {
      ...size,
      projectId,
      versionIds: FLEET_AGENTS.map(() => ''),
      flushes: new FlushNumbers(),
      ...options,
    });

  const ask = <Row>(text: string, params: Record<string, string | number> = {}) =>
    store.lookups.query<Row>(`${text} SETTINGS output_format_json_quote_64bit_integers = 0`, {
      project_id: 'fleet',
      ...params,
    });

  async function perUnit(unit: 'toHour' | 'toDayOfWeek'): Promise<number[]> {
    const rows = await ask<{ n: number }>(
      `SELECT count() AS n FROM decisions WHERE project_id = {project_id: String}
       GROUP BY ${unit}(occurred_at) AS unit ORDER BY unit`,
    );
    return rows.map(({ n }) => n);
  }

  const sumOf = (counts: number[]) => counts.reduce((sum, n) => sum + n, 0);

  it('has the requested number of rows, even if the last day is not over', async () => {
    const earlyMs = YESTERDAY_MS - DAY_MS * 0.7;
    const written = await fill('early', { rows: 20_000, days: 2, nowMs: earlyMs, seed: SEED });
    const counts = await ask<{ n: number; last: number }>(
      `SELECT count() AS n, toInt64(toUnixTimestamp64Milli(max(occurred_at))) AS last
       FROM decisions WHERE project_id IN ('fleet', 'early') GROUP BY project_id ORDER BY project_id DESC`,
    );

    // Six events a day never arrive.
    expect(counts[0]?.n).to.be.within(SIZE.rows - 7 * SIZE.days, SIZE.rows - 5 * SIZE.days);
    expect(counts[1]?.n).to.be.within(19_500, 20_500);
    expect(written).to.equal(counts[1]?.n);
    expect(counts[1]?.last).to.be.within(earlyMs - 600_000, earlyMs);
  });

  it('works by day and by week', async () => {
    const hours = await perUnit('toHour');
    const weekdays = await perUnit('toDayOfWeek');

    expect(sumOf(hours.slice(9, 18))).to.be.above(5 * sumOf(hours.slice(0, 5)));
    expect(Math.min(...weekdays.slice(0, 5))).to.be.above(1.7 * Math.max(...weekdays.slice(5)));
  });

  it('has an incident about every tenth day, in which one agent is denied far more often', async () => {
    const planned = [1, 2, 3, 4, 5].flatMap((seed) => fleetDays({ ...SIZE, days: 90, seed }));
    const rates = planned.flatMap(({ incidents }) => incidents.map(({ rate }) => rate));
    const day = new Date(YESTERDAY_MS).toISOString().slice(0, 10);
    const incident = { agent: 1, fromSecond: 9 * 3600, toSecond: 12 * 3600, rate: 0.7 };
    const fleet = fleetJson(
      { day, rows: 20_000, incidents: [incident] },
      FLEET_AGENTS.map(() => ''),
    );
    await store.background.command(sql('fleet_day'), {
      project_id: 'incident',
      seed: SEED,
      day,
      rows: 20_000,
      since: clickhouseTime(0),
      until: clickhouseTime(YESTERDAY_MS),
      users: 100,
      fleet,
    });
    const [row] = await ask<{ inside: number; before: number; others: number }>(
      `SELECT avgIf(outcome = 'deny', is_agent AND hour BETWEEN 9 AND 11) AS inside,
         avgIf(outcome = 'deny', is_agent AND hour < 9) AS before,
         avgIf(outcome = 'deny', NOT is_agent AND hour BETWEEN 9 AND 11) AS others
       FROM (SELECT outcome, agent_name = {agent: String} AS is_agent, toHour(occurred_at) AS hour
         FROM decisions WHERE project_id = {project_id: String})`,
      { project_id: 'incident', agent: FLEET_AGENTS[0]?.name ?? '' },
    );

    expect(rates.length / planned.length).to.be.within(0.05, 0.2);
    expect(Math.min(...rates)).to.be.at.least(0.4);
    expect(row?.inside).to.be.within(0.6, 0.8);
    expect(row?.before).to.be.below(0.1);
    expect(row?.others).to.be.below(0.15);
  });

  it('gives every agent its own tools and roles, and few users most of the work', async () => {
    const agents = await ask<{ agent_name: string; tools: string[]; roles: string[] }>(
      `SELECT agent_name, groupUniqArray(tool_name) AS tools, groupUniqArray(role) AS roles
       FROM decisions WHERE project_id = {project_id: String} GROUP BY agent_name`,
    );
    const users = await ask<{ n: number }>(
      `SELECT count() AS n FROM decisions WHERE project_id = {project_id: String} AND user_id != ''
       GROUP BY user_id ORDER BY n DESC`,
    );

    expect(agents).to.have.length(FLEET_AGENTS.length);
    for (const { name, tools, roles } of FLEET_AGENTS) {
      const found = agents.find(({ agent_name }) => agent_name === name);
      expect(found?.tools, name).to.have.members(Object.keys(tools));
      expect(found?.roles, name).to.have.members(roles);
    }
    const counts = users.map(({ n }) => n);
    expect(sumOf(counts.slice(0, 100))).to.be.above(sumOf(counts) * 0.4);
    expect(counts.length).to.be.above(5000);
  });

  it('records what the policies of its agents decide, each rule of them at least once', async () => {
    type Row = Record<'agent_name' | 'role' | 'tool_name' | 'arguments', string> & { decided: string[] };
    const rows = await ask<Row>(
      `SELECT DISTINCT agent_name, role, tool_name, arguments,
         [toString(outcome), reason, hint, arrayStringConcat(violations)] AS decided
       FROM decisions WHERE project_id = {project_id: String}`,
    );
    const policies = FLEET_AGENTS.map((agent) => ({ name: agent.name, ...parsePolicy(policyOf(agent)) }));
    const wrong = rows.filter(({ agent_name, role, tool_name, decided, ...row }) => {
      const policy = policies.find(({ name }) => name === agent_name);
      if (policy?.ok !== true) return true;
      const given = JSON.parse(row.arguments) as Record<string, unknown>;
      const call = { role, tool: tool_name, arguments: given };
      const { outcome, reason, hint, violations } = createTypescriptEngine(policy.ir).decide(call);
      const hintText = hint === null ? '' : JSON.stringify(hint);
      return [outcome, reason, hintText, violations.join('')].join() !== decided.join();
    });
    const reasons = new Set(rows.map(({ decided }) => decided[1]));
    const unused = policies.flatMap(({ name, ...policy }) =>
      policy.ok ? policy.ir.rules.filter(({ reason }) => !reasons.has(reason)) : [{ reason: name }],
    );

    expect(rows.length).to.be.above(5000);
    expect(wrong).to.deep.equal([]);
    expect(unused).to.deep.equal([]);
  });

  it('has senders with numbered events: some are dropped, some lost, and one agent never closes', async () => {
    const senders = await ask<{ agent: string; closed: number; sent: number; numbers: number }>(
      `SELECT agent, countIf(emitted > 0) AS closed, sum(sent) AS sent, sum(numbers) AS numbers
       FROM (SELECT emitter, any(agent_name) AS agent, count() AS sent, max(sequence) AS numbers
         FROM decisions WHERE project_id = {project_id: String} GROUP BY emitter) AS senders
       LEFT JOIN emitter_closes USING emitter GROUP BY agent`,
    );
    const lost = senders.filter(({ sent, numbers }) => sent !== numbers).map(({ agent }) => agent);
    const open = senders.filter(({ closed }) => closed < SIZE.days).map(({ agent }) => agent);

    expect(senders).to.have.length(FLEET_AGENTS.length);
    expect(lost).to.have.members(['checkout-assistant', 'invoice-clerk']);
    expect(open).to.deep.equal(['incident-responder']);
  });

  it('has versions as the service writes them: the row received first wins', async () => {
    for (const table of ['decisions', 'llm_invocations']) {
      const [row] = await ask<{ wrong: number }>(
        `SELECT countIf(bitShiftRight(version, 11) != 4398046511104 - toUnixTimestamp64Milli(received_at)) AS wrong
         FROM {table: Identifier}`,
        { table },
      );
      expect(row, table).to.deep.equal({ wrong: 0 });
    }
  });

  it('is completed without repeats when the filling stopped half-way', async () => {
    const size = { rows: 2000, days: 2, nowMs: YESTERDAY_MS, seed: 7 };
    await fill('whole', size);
    const stop = new AbortController();
    const onProgress = ({ done }: { done: number }) => done === 1 && stop.abort();
    const half = await fill('half', size, { signal: stop.signal, onProgress }).catch(
      (error: Error) => error.name,
    );
    const [since] = await ask<{ decisions: string; llm_invocations: string }>(
      sql('fleet_newest').replace(/;?\s*$/, ''),
      {
        project_id: 'half',
        now: clickhouseTime(YESTERDAY_MS),
      },
    );
    await fill('half', size, since === undefined ? {} : { since });
    const counts = await ask<{ n: number }>(
      `SELECT count() AS n FROM decisions WHERE project_id IN ('whole', 'half') GROUP BY project_id`,
    );

    expect(half).to.equal('AbortError');
    expect(counts[0]?.n).to.equal(counts[1]?.n).and.be.above(1900);
  });

  it('is the same fleet for the same seed, and another for another', async () => {
    const size = { rows: 1000, days: 1, nowMs: YESTERDAY_MS };
    await fill('one', { ...size, seed: 5 });
    await fill('two', { ...size, seed: 5 });
    await fill('three', { ...size, seed: 6 });
    const sums = await ask<{ hash: string }>(
      `SELECT toString(sum(cityHash64(event_id, occurred_at, agent_name, tool_name, outcome, user_id))) AS hash
       FROM decisions WHERE project_id IN ('one', 'two', 'three') GROUP BY project_id ORDER BY project_id`,
    );

    const [one, three, two] = sums.map(({ hash }) => hash);
    expect(two).to.equal(one);
    expect(three).not.to.equal(one);
  });
});
