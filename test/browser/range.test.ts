import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { sendDecision, sendLlm } from '../support/audit.ts';
import { sendBatch } from '../support/batch.ts';
import { decisionEvent, llmInvocation } from '../support/events.ts';
import { eventually } from '../support/eventually.ts';
import { askJson } from '../support/reads.ts';
import { holdNext } from './support/hold.ts';
import { addressOf, expectAccessible, useWorld, visit } from './support/world.ts';
import { DAY_MS, HOUR_MS } from '../../server/durations.ts';

type Decision = { event_id: string; occurred_at: string; session_id: string; tool_name: string };
type DecisionsPage = { items: Decision[]; total: number };
const MISSING = '00000000-0000-4000-8000-000000000000';

describe('periods, filters and records in a browser', function () {
  const world = useWorld(this);
  const decisions = (query: Record<string, string> | string) =>
    askJson<DecisionsPage>(world.service, 'decisions', { query });

  it('shows a record by its address whatever the period, and copies it exactly', async () => {
    const { page } = await world.newPage({ isSignedIn: false });
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    const event = decisionEvent({ occurred_at: new Date(Date.now() - 40 * DAY_MS).toISOString() });
    const body = `${JSON.stringify({ ...event, arguments: undefined }).slice(0, -1)},"arguments":{"n":9007199254740993}}`;
    const { url } = world.service;
    expect((await sendDecision(world.service, body)).status).to.equal(202);

    const path = world.projectPath(`decisions/${String(event['event_id'])}`);
    await page.goto(path);
    const drawer = page.getByRole('complementary', { name: 'Decision' });
    await drawer.getByText('9007199254740993').waitFor();
    const copied = async (name: string) => {
      const read = () => page.evaluate<string>('navigator.clipboard.readText()');
      const before = await read();
      await drawer.getByRole('button', { name }).first().click();
      return eventually(async () => {
        const text = await read();
        return text === before ? undefined : text;
      });
    };
    expect(await copied('Copy link')).to.equal(url + path);
    const json = await copied('JSON');
    expect(json).to.include('"n": 9007199254740993');
    expect(JSON.parse(json)).to.include({ event_id: event['event_id'], tool_name: event['tool_name'] });
    const read = `${url}/v1/projects/${world.projectId}/audit/decisions/${String(event['event_id'])}'`;
    expect(await copied('cURL')).to.include(read);
    // As over plain HTTP from another machine.
    await page.evaluate("Object.defineProperty(window, 'isSecureContext', { value: false })");
    expect(await copied('Copy link')).to.equal(url + path);
    // Links of older releases.
    await page.goto(world.projectPath('decisions', { event: String(event['event_id']), at: 'x' }));
    await page.waitForURL(path);
    await visit(page, world.projectPath(`decisions/${MISSING}`));
    await drawer.getByText('Decision not found').waitFor();
  });

  it('steps beyond the end of what the list has loaded', async () => {
    const { page } = await world.newPage();
    const { items } = await decisions({ window: '7d', limit: '102' });
    expect(items).to.have.length(102);
    const steps = page.getByRole('complementary', { name: 'Decision' });
    await page.goto(world.projectPath(`decisions/${items[99]?.event_id}`, { window: '7d' }));
    for (const next of [100, 101]) {
      await steps.getByRole('button', { name: 'Older' }).click();
      await page.waitForURL(new RegExp(items[next]?.event_id ?? '-'));
    }
    await steps.getByRole('button', { name: 'Newer' }).click();
    await page.waitForURL(new RegExp(items[100]?.event_id ?? '-'));
  });

  it('steps to the neighbour that was asked for before the list arrived', async () => {
    const { page } = await world.newPage();
    const { items } = await decisions({ window: '7d', limit: '102' });
    const list = await holdNext(page, /audit\/decisions\?.*limit=100$/);
    await page.goto(world.projectPath(`decisions/${items[50]?.event_id}`, { window: '7d' }));
    const search = await holdNext(page, /audit\/decisions\?.*limit=500/);
    await page.getByRole('button', { name: 'Older' }).click();
    await search.asked;
    await list.release();
    await page.locator('.decision-row').first().waitFor();
    await search.release();
    await page.waitForURL(new RegExp(items[51]?.event_id ?? '-'));
  });

  it('steps from a record outside of the list to its neighbours, also within one millisecond', async () => {
    const { page, faults } = await world.newPage();
    const at = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString();
    const same = at(40);
    const ids: string[] = [];
    // Newest first; of one instant the larger id comes first.
    for (const [occurred_at, start] of [
      [at(30), 'a'],
      [same, 'f'],
      [same, 'b'],
      [same, '3'],
      [at(60), 'e'],
    ] as const) {
      const event = decisionEvent({ occurred_at, agent_name: 'far' });
      const event_id = `${start}${String(event['event_id']).slice(1)}`;
      ids.push(event_id);
      expect((await sendDecision(world.service, { ...event, event_id })).status).to.equal(202);
    }
    await page.goto(world.projectPath(`decisions/${ids[2]}`, { agent: 'far' }));
    const button = (name: string) =>
      page.getByRole('complementary', { name: 'Decision' }).getByRole('button', { name });
    const step = async (name: string, to: number) => {
      await button(name).click();
      await page.waitForURL(new RegExp(`/${ids[to]}\\?agent=far$`));
      await page
        .getByRole('complementary')
        .getByText(ids[to] ?? '')
        .waitFor();
    };
    for (const to of [3, 4]) await step('Older', to);
    await button('Older').click();
    await page.getByRole('complementary').getByRole('button', { name: 'Older', disabled: true }).waitFor();
    for (const to of [3, 2, 1, 0]) await step('Newer', to);
    await button('Newer').click();
    await page.getByRole('complementary').getByRole('button', { name: 'Newer', disabled: true }).waitFor();
    expect(faults).to.deep.equal([]);

    // Who leaves the record stays where they went.
    await page.goto(world.projectPath(`decisions/${ids[2]}`, { agent: 'far' }));
    const search = await holdNext(page, /audit\/decisions\?.*limit=500/);
    await button('Older').click();
    await search.asked;
    await visit(page, world.projectPath('proof'));
    await page.getByRole('heading', { name: 'Proof', exact: true }).waitFor();
    await search.release();
    expect(addressOf(page)).to.equal(world.projectPath('proof'));
  });

  it('zooms by drag and by keyboard; Back returns; a form takes any period', async () => {
    const { page, faults } = await world.newPage();
    await page.goto(world.projectPath('overview', { window: '7d' }));
    const chart = page.getByRole('region', { name: 'Decisions over time' });
    const plot = chart.locator('.chart-plot');
    // The second time, the answer is cached: the chart stays, and the drag must not end as a click on a bar.
    for (let time = 0; time < 2; time += 1) {
      const { x = 0, y = 0, width = 0 } = (await plot.boundingBox()) ?? {};
      await page.mouse.move(x + width * 0.6, y + 50);
      await page.mouse.down();
      await page.mouse.move(x + width * 0.99, y + 60, { steps: 4 });
      await page.mouse.up();
      await page.waitForURL(/overview\?from=.*&to=/);
      await plot.waitFor();
      expect(addressOf(page)).to.match(/overview\?from=.*&to=/);
      await page.goBack();
      await page.waitForURL(/overview\?window=7d$/);
      await plot.waitFor();
    }
    await chart.getByRole('link', { name: /^Decisions: / }).focus();
    for (const key of ['Shift+ArrowLeft', 'Shift+ArrowLeft', 'Enter']) await page.keyboard.press(key);
    await page.waitForURL(/overview\?from=.*&to=/);
    const [from, to] = rangeIn(page);
    expect(to - from).to.equal(3 * 21_600_000);

    await page.getByRole('button', { name: / UTC$/ }).click();
    await expectAccessible(page, '.menu-items');
    await page.getByLabel('From', { exact: true }).fill('2026-11-02T10:30');
    await page.getByLabel('To', { exact: true }).fill('2026-11-01T10:30');
    await page.getByRole('button', { name: 'Apply' }).click();
    await page.getByText('From must be earlier than To.').waitFor();
    await page.getByLabel('To', { exact: true }).fill('2026-11-03T10:30');
    await page.getByRole('button', { name: 'Apply' }).click();
    await page.waitForURL(/from=2026-11-02T10%3A30%3A00Z&to=2026-11-03T10%3A30%3A00Z/);
    expect(faults).to.deep.equal([]);
  });

  it('shows times in the zone that was chosen, and keeps UTC in the address', async () => {
    const { page } = await world.newPage({ timezoneId: 'Asia/Tokyo' });
    await page.goto(
      world.projectPath('decisions', { from: '2026-11-02T10:30:00Z', to: '2026-11-02T12:00:00Z' }),
    );
    await page.getByRole('button', { name: /^02 Nov .*10:30 – 02 Nov .*12:00 UTC$/ }).click();
    await page.getByLabel('Time zone').selectOption('Local time');
    expect(await page.getByLabel('From', { exact: true }).inputValue()).to.equal('2026-11-02T19:30');
    await page.getByRole('button', { name: 'Apply' }).click();
    await page.reload();
    await page.getByRole('button', { name: /^02 Nov .*19:30 – 02 Nov .*21:00 GMT\+9$/ }).waitFor();
    expect(addressOf(page)).to.include('from=2026-11-02T10%3A30%3A00Z');
  });

  it('keeps the labels of its time axis inside of a chart on a phone', async () => {
    const { page } = await world.newPage({ viewport: { width: 390, height: 844 } });
    // The years make labels long.
    await page.goto(
      world.projectPath('decisions', { from: '2025-12-26T00:00:00Z', to: '2026-01-02T00:00:00Z' }),
    );
    const last = page.locator('.chart-x span', { hasText: '01 Jan 2026' });
    await last.waitFor();
    const [label, chart] = [await last.boundingBox(), await page.locator('.chart-frame').boundingBox()];

    expect((label?.x ?? 0) + (label?.width ?? 0)).to.be.at.most((chart?.x ?? 0) + (chart?.width ?? 0) + 1);
  });

  it('keeps the order of a table when the zone of its times changes', async () => {
    const { page } = await world.newPage({ timezoneId: 'Asia/Tokyo' });
    await page.goto(world.projectPath('agents'));
    await page.getByRole('link', { name: 'Policy saved (UTC)' }).click();
    await page.locator('th[aria-sort=ascending]', { hasText: 'Policy saved' }).waitFor();
    await page.getByRole('button', { name: 'Custom' }).click();
    await page.getByLabel('Time zone').selectOption('Local time');
    await page.locator('th[aria-sort=ascending]', { hasText: 'Policy saved (GMT+9)' }).waitFor();
  });

  it('filters by several values, excludes some, and counts the outcomes under the other filters', async () => {
    const { page, faults } = await world.newPage();
    await page.goto(world.projectPath('decisions', { window: '7d', outcome: 'deny' }));
    await page.getByRole('button', { name: 'Agent' }).click();
    await page.getByRole('checkbox', { name: /^code-reviewer/ }).check();
    await page.waitForURL(/agent=code-reviewer/);
    await page.getByRole('searchbox', { name: 'Filter by agent' }).fill('analyst');
    await page.keyboard.press('Enter');
    await page.waitForURL(/agent=data-analyst/);
    await expectAccessible(page, '.menu-items, .chips');
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Tool' }).click();
    await page.getByRole('button', { name: 'Exclude run_query' }).click();
    await page.waitForURL(/not.tool=run_query/);
    await page.keyboard.press('Escape');

    const filters = 'window=7d&agent=code-reviewer&agent=data-analyst&not.tool=run_query';
    const [denied, all] = await Promise.all([decisions(`${filters}&outcome=deny`), decisions(filters)]);
    await page.getByTestId('total').getByText(String(denied.total), { exact: true }).waitFor();
    await page.getByRole('link', { name: `All ${all.total}` }).waitFor();
    await page.getByRole('link', { name: `Deny ${denied.total}` }).waitFor();
    await page.getByText('Tool is not run_query').waitFor();
    expect(await page.getByRole('list', { name: 'Active filters' }).getByRole('listitem').count()).to.equal(
      5,
    );
    await visit(page, addressOf(page).replace('/decisions', '/overview'));
    const agents = page.getByRole('region', { name: 'Agents' }).locator('.bar-name');
    await agents.first().waitFor();
    expect((await agents.allInnerTexts()).toSorted()).to.deep.equal(['code-reviewer', 'data-analyst']);
    expect(faults).to.deep.equal([]);
  });

  it('calls the decisions of an agent unknown, not 0, if the summary leaves it out, and lists its denials', async () => {
    const fromMs = Date.now() - 50 * DAY_MS;
    const occurred_at = new Date(fromMs).toISOString();
    const rare = Array.from({ length: 1000 }, (_, at) =>
      decisionEvent({ occurred_at, agent_name: `crowd-${at}` }),
    );
    const twice = rare.map((event) => decisionEvent({ ...event, event_id: randomUUID() }));
    const left = [decisionEvent({ occurred_at, agent_name: 'support-triage', outcome: 'deny' })];
    for (const events of [rare, twice, left])
      expect((await sendBatch(world.service, events)).status).to.equal(202);
    const { page, faults } = await world.newPage();
    const range = { from: occurred_at, to: new Date(fromMs + HOUR_MS).toISOString() };
    await page.goto(world.projectPath('agents', range));
    const rowOf = (name: string) => page.getByRole('row', { name: new RegExp(`^${name} `) });
    await page.getByText('The 1,000 agents with the most decisions are counted, 1 other is not.').waitFor();
    const numbers = async (name: string) => (await rowOf(name).locator('td.number').allInnerTexts()).slice(1);
    expect(await numbers('crowd-7')).to.deep.equal(['2', '0%', '0']);
    expect(await numbers('support-triage')).to.deep.equal(['–', '–', '–']);
    await visit(page, world.projectPath('overview', range));
    await page.getByRole('link', { name: 'Agents active 1,001' }).waitFor();
    await visit(page, world.projectPath('agents', { ...range, agent: 'support-triage' }));
    await rowOf('support-triage').waitFor();
    expect(await numbers('support-triage')).to.deep.equal(['1', '100%', '0']);

    await visit(page, world.projectPath('overview', { ...range, sort: 'denials' }));
    const agents = page.getByRole('region', { name: 'Agents', exact: true });
    await agents.locator('.bar-row').waitFor();
    expect(await agents.innerText()).to.match(/^Agents\s+Denials\s+support-triage\s+1$/i);
    expect(faults).to.deep.equal([]);
  });

  it('compares the usage of a period with the previous one', async () => {
    const { page, faults } = await world.newPage();
    const toMs = Date.now();
    const fromMs = toMs - 2 * HOUR_MS;
    const send = async (atMs: number, input_tokens: number, cost_usd: number) => {
      const occurred_at = new Date(atMs).toISOString();
      const { event_id } = decisionEvent();
      const usage = { event_id, occurred_at, agent_name: 'twice', model: 'm', output_tokens: 10 };
      const body = { ...usage, input_tokens, cost_usd };
      expect((await sendLlm(world.service, body)).status).to.equal(202);
    };
    for (const age of [1, 2, 3]) await send(toMs - age * 60_000, 100, 1);
    for (const age of [1, 2]) await send(fromMs - age * 60_000, 300, 2);
    const range = { from: new Date(fromMs).toISOString(), to: new Date(toMs).toISOString() };
    await page.goto(world.projectPath('usage', { ...range, agent: 'twice' }));

    const tiles = page.locator('.tile');
    await tiles.first().getByText('than the period before').waitFor();
    expect(await tiles.locator('.change').allInnerTexts()).to.deep.equal([
      '▼ 25% less',
      '▲ 50% more',
      '▼ 50% less',
      '▲ 50% more',
    ]);
    await page.getByRole('region', { name: 'Cost over time' }).getByText('Show as table').click();
    const cells = page.getByRole('region', { name: 'Cost over time' }).locator('tbody td:last-child');
    await cells.first().waitFor();
    const sums = (await cells.allInnerTexts()).map((text) => Number(text.replace('$', '')));
    expect(sums.reduce((sum, value) => sum + value, 0)).to.be.closeTo(4, 0.1);
    await expectAccessible(page);
    expect(faults).to.deep.equal([]);
  });

  it('ranks users and sessions by cost, links them to their records, and opens the models of an agent', async () => {
    const { page, faults } = await world.newPage();
    const send = async (fields: Record<string, unknown>) => {
      const call = llmInvocation({ agent_name: 'spender', ...fields });
      expect((await sendLlm(world.service, call)).status).to.equal(202);
    };
    await send({ user_id: 'few', session_id: 's-few', model: 'm1', cost_usd: 3 });
    for (const session_id of ['s-1', 's-2']) await send({ user_id: 'many', session_id, cost_usd: 1 });
    await send({ user_id: '', session_id: '', cost_usd: 0.5 });
    for (let one = 0; one < 11; one += 1) await send({ user_id: 'rest', session_id: `r-${one}` });
    await page.goto(world.projectPath('usage', { agent: 'spender' }));
    const rowsOf = async (name: string) => {
      const rows = page.getByRole('region', { name, exact: true }).locator('tbody tr');
      await rows.nth(1).waitFor();
      return (await rows.allInnerTexts()).map((row) => {
        const [value, calls, , , , cost] = row.split(/\s*\t\s*/);
        return [value?.split('\n')[0], calls, cost];
      });
    };

    expect(await rowsOf('By user')).to.deep.equal([
      ['few', '1', '$3.00'],
      ['many', '2', '$2.00'],
      ['(none)', '1', '$0.50'],
      ['rest', '11', '$0.00'],
    ]);
    const sessions = page.getByRole('region', { name: 'By session', exact: true });
    expect((await rowsOf('By session')).slice(0, 4).map(([value]) => value)).to.deep.equal([
      's-few',
      's-1',
      's-2',
      '(none)',
    ]);
    await sessions.getByRole('link', { name: '5 more' }).click();
    await sessions.getByRole('link', { name: 'Show fewer' }).waitFor();
    expect(await rowsOf('By session')).to.have.length(15);
    await page.getByRole('link', { name: 'Models of spender' }).click();
    await page.locator('.usage-model').nth(1).waitFor();
    expect((await rowsOf('By agent')).slice(1)).to.deep.equal([
      ['m1', '1', '$3.00'],
      ['model-1', '14', '$2.50'],
    ]);
    await expectAccessible(page);
    const recordsOf = (name: string) => page.getByRole('link', { name, exact: true }).getAttribute('href');
    expect(await recordsOf('few')).to.match(/usage\/calls\?window=24h&agent=spender&user_id=few$/);
    expect(await recordsOf('Decisions of few')).to.match(/decisions\?window=24h&agent=spender&user_id=few$/);
    expect(await recordsOf('Decisions of s-few')).to.match(/&session_id=s-few&view=timeline$/);
    await page.getByRole('link', { name: 'Only many' }).click();
    await page.waitForURL(/user_id=many/);
    await sessions.getByText('s-few').waitFor({ state: 'detached' });
    expect((await rowsOf('By session')).map(([value]) => value)).to.deep.equal(['s-1', 's-2']);
    expect(faults).to.deep.equal([]);
  });

  it('shows a whole session in order, with its model calls', async () => {
    const { page } = await world.newPage();
    const [newest] = (await decisions({ window: '7d' })).items;
    if (newest === undefined) throw new Error('There are no decisions');
    const { event_id, occurred_at, session_id } = newest;
    const { items } = await decisions({ window: '90d', session_id });
    const tokens = { model: 'model-large', input_tokens: 900, output_tokens: 100 };
    const usage = {
      ...decisionEvent({ session_id, occurred_at }),
      ...tokens,
      tool_name: undefined,
      outcome: undefined,
    };
    expect((await sendLlm(world.service, usage)).status).to.equal(202);
    await page.goto(world.projectPath(`decisions/${event_id}`, { outcome: 'deny' }));
    await page.getByRole('link', { name: 'Only this session' }).click();
    const timeline = page.getByRole('list', { name: 'Timeline of the session' });
    await timeline
      .getByRole('link')
      .nth(items.length - 1)
      .waitFor();
    await timeline.getByText('900 in · 100 out').waitFor();
    const names = await timeline.locator('b').allInnerTexts();
    const tools = items.map(({ tool_name }) => tool_name).toReversed();
    expect(names).to.deep.equal([...tools.slice(0, -1), 'model-large', ...tools.slice(-1)]);
    const later = (await timeline.locator('.timeline-later').allInnerTexts()).filter((text) => text !== '');
    expect(later).to.have.length(items.length);
    for (const text of later) expect(text).to.match(/^\+[\d.]+ (ms|s|min|h|d)$/);
  });
});

function rangeIn(page: Page): [from: number, to: number] {
  const query = new URL(page.url()).searchParams;
  return [Date.parse(query.get('from') ?? ''), Date.parse(query.get('to') ?? '')];
}
