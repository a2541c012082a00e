import { expect } from 'chai';
import type { Locator, Page } from 'playwright-core';
import { batchOutcome, sendBatch } from '../support/batch.ts';
import { decisionEvent } from '../support/events.ts';
import { askJson, type Timeseries } from '../support/reads.ts';
import { addressOf, expectAccessible, useWorld, visit } from './support/world.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../server/durations.ts';

type Broken = { items: { value: string; total: number }[]; others: { entries: number } | null };

describe('the charts and panels of Overview and Decisions in a browser', function () {
  const world = useWorld(this);
  const totalIs = (page: Page, total: number) =>
    page.getByTestId('total').getByText(String(total), { exact: true }).waitFor();

  it('draws the week before as a line, and compares with it', async () => {
    const at = (ageMs: number, outcome: string) =>
      decisionEvent({
        agent_name: 'weekly',
        outcome,
        occurred_at: new Date(Date.now() - ageMs).toISOString(),
      });
    const weekAgo = 7 * DAY_MS + HOUR_MS;
    const events = [
      ...['deny', 'deny', 'allow', 'allow'].map((outcome) => at(weekAgo, outcome)),
      ...['deny', 'allow', 'allow', 'allow', 'allow', 'allow'].map((outcome) => at(HOUR_MS, outcome)),
    ];
    expect(await batchOutcome(sendBatch(world.service, events))).to.include({ accepted: 10 });
    const { page, faults } = await world.newPage();
    await page.goto(world.projectPath('overview', { agent: 'weekly' }));
    await page.getByRole('link', { name: /^Decisions 6 .*▲ 50% more than a week before/ }).waitFor();
    await page.getByRole('link', { name: /^Denial rate .*▼ 33.3 points less/ }).waitFor();
    for (const [name, sum] of [
      ['Decisions over time', 4],
      ['Denial rate', 50],
    ] as const) {
      const chart = page.getByRole('region', { name });
      const line = chart.locator('path.tone-before');
      expect(await line.getAttribute('d')).to.match(/^M.*L/);
      await chart.getByText('Show as table').click();
      await chart.locator('th', { hasText: 'A week before' }).waitFor();
      const cells = await chart.locator('tbody td:last-child').allInnerTexts();
      const values = cells.map((text) => Number.parseFloat(text)).filter((value) => !Number.isNaN(value));
      // The hours of that week may span two hours of now.
      const most = name === 'Denial rate' ? Math.max(...values) : values.reduce((all, one) => all + one, 0);
      expect(most).to.equal(sum);
      // The line ends before the bucket that is still growing.
      expect(await line.getAttribute('d')).not.to.contain(`L${cells.length - 0.5} `);
      expect(await line.getAttribute('d')).to.contain(`L${cells.length - 1.5} `);
    }
    await expectAccessible(page);
    expect(faults).to.deep.equal([]);
  });

  it('compares each period with the previous one, even if it is opened without a page load', async () => {
    const events = [1, 1, 8].map((days) =>
      decisionEvent({ agent_name: 'own', occurred_at: new Date(Date.now() - days * DAY_MS).toISOString() }),
    );
    expect(await batchOutcome(sendBatch(world.service, events))).to.include({ accepted: 3 });
    const { page, faults } = await world.newPage();
    const around = (days: number) => {
      const iso = (ms: number) => new Date(Date.now() - ms).toISOString();
      const range = { from: iso((days + 0.5) * DAY_MS), to: iso((days - 0.5) * DAY_MS) };
      return world.projectPath('overview', { agent: 'own', ...range });
    };
    await page.goto(around(1));
    await page.getByText('100% more than a week before').waitFor();

    await visit(page, around(8));

    await page.getByText('none the period before').waitFor();
    expect(await page.getByText('a week before').count()).to.equal(0);
    expect(faults).to.deep.equal([]);
  });

  it('compares an unfinished period with the same part of the week before', async () => {
    const at = (ms: number) => new Date(Date.now() + ms).toISOString();
    const events = [-10, -10 - 7 * 24 * 60, 10 - 7 * 24 * 60].map((minutes) =>
      decisionEvent({ agent_name: 'steady', occurred_at: at(minutes * MINUTE_MS) }),
    );
    expect(await batchOutcome(sendBatch(world.service, events))).to.include({ accepted: 3 });
    const { page, faults } = await world.newPage();
    const range = { from: at(-20 * MINUTE_MS), to: at(20 * MINUTE_MS) };
    await page.goto(world.projectPath('overview', { agent: 'steady', ...range }));
    await page.getByRole('link', { name: /^Decisions 1 .*about the same as a week before/ }).waitFor();
    const chart = page.getByRole('region', { name: 'Decisions over time' });
    const line = (await chart.locator('path.tone-before').getAttribute('d')) ?? '';
    await chart.getByText('Show as table').click();
    await chart.locator('th', { hasText: 'A week before' }).waitFor();
    const before = await chart.locator('tbody td:last-child').allInnerTexts();
    // The newest row is the first.
    expect(before.slice(0, 15)).to.deep.equal(Array(15).fill('–'));
    expect(before.filter((text) => text === '1')).to.have.length(1);
    expect(line.split('L').length - 1).to.be.within(19, 21);
    expect(faults).to.deep.equal([]);
  });

  it('refreshes the outcome counts with the rest of the page', async () => {
    const send = (...outcomes: string[]) =>
      sendBatch(
        world.service,
        outcomes.map((outcome) => decisionEvent({ agent_name: 'counted', outcome })),
      );
    await send('allow');
    const { page } = await world.newPage();
    await page.clock.install();
    await page.goto(world.projectPath('overview', { agent: 'counted' }));
    const outcomes = page.getByRole('navigation', { name: 'Outcome' });
    await outcomes.getByRole('link', { name: 'All 1' }).waitFor();
    await send('deny', 'deny');
    await page.clock.fastForward('00:16');

    await outcomes.getByRole('link', { name: 'All 3' }).waitFor();
    await outcomes.getByRole('link', { name: 'Deny 2' }).waitFor();
  });

  it('says of an empty period in the past that it has no decisions, and not how to send the first', async () => {
    const { page } = await world.newPage();
    const from = new Date(Date.now() - 85 * DAY_MS).toISOString();
    const to = new Date(Date.now() - 85 * DAY_MS + HOUR_MS).toISOString();
    for (const shownAt of ['decisions', 'overview', 'usage']) {
      await page.goto(world.projectPath(shownAt, { from, to }));
      await page.getByText(/^No (decisions|model calls) in /).waitFor();
      expect(await page.getByText(/Create a key|Clear filters|To try it/).count(), shownAt).to.equal(0);
    }
  });

  it('keeps its filters when there are too many values, and accepts no more', async () => {
    const { page } = await world.newPage();
    const agents = Array.from({ length: 21 }, (_, index) => `agent=none-${index}`).join('&');
    await page.goto(`${world.projectPath('overview')}?${agents}`);
    await page.getByRole('alert').first().waitFor();
    await page.getByRole('link', { name: 'Remove this filter by agent' }).first().click();
    await page.getByText('No decisions match').waitFor();
    await page.getByRole('button', { name: 'Agent' }).click();
    await page.getByText('A filter takes at most 20 values.').waitFor();
    expect(await page.getByRole('checkbox', { name: /^support-triage/ }).isDisabled()).to.equal(true);
    await page
      .getByRole('checkbox', { name: /^none-/ })
      .first()
      .click();
    await page.getByRole('checkbox', { name: /^support-triage/ }).check();
    await page.waitForURL(/agent=support-triage/);
  });

  it('opens the whole list behind a panel, and closes it', async () => {
    const { page } = await world.newPage();
    await page.goto(world.projectPath('overview', { window: '7d' }));
    const { items } = await askJson<Broken>(world.service, 'breakdown', {
      query: { window: '7d', by: 'tool' },
    });
    const panel = page.getByRole('region', { name: 'Tools', exact: true });
    await panel.getByRole('link', { name: `${items.length - 8} more` }).click();
    const rows = panel.locator('tbody th');
    await rows.first().waitFor();
    expect((await rows.allInnerTexts()).toSorted()).to.deep.equal(items.map(({ value }) => value).toSorted());
    await panel.getByRole('link', { name: 'Show fewer' }).click();
    await panel.locator('.bar-row').first().waitFor();
    expect(await panel.locator('.bar-row').count()).to.equal(8);
  });

  for (const [title, by, only] of [
    ['Reasons', 'reason', { 'not.outcome': 'allow' }],
    ['Users', 'user_id', {}],
    ['Sessions', 'session_id', {}],
  ] as const)
    it(`ranks ${title.toLowerCase()} by their decisions, and leads to these`, async () => {
      const { page, faults } = await world.newPage();
      const query = { window: '7d', agent: 'data-analyst', ...only };
      const { items, others } = await askJson<Broken>(world.service, 'breakdown', {
        query: { by, limit: '9', ...query },
      });
      await page.goto(world.projectPath('overview', { window: '7d', agent: 'data-analyst' }));
      const panel = page.getByRole('region', { name: title, exact: true });
      await panel.locator('.bar-row').first().waitFor();
      const shown = await Promise.all(
        ['.bar-name', '.bar-count'].map((part) => panel.locator(part).allInnerTexts()),
      );
      const expected = items.slice(0, 8);
      expect(shown).to.deep.equal([
        expected.map(({ value }) => value),
        expected.map(({ total }) => String(total)),
      ]);
      if (others !== null)
        await panel
          .getByRole('link', { name: `${others.entries + items.length - 8} more`, exact: true })
          .waitFor();
      await panel.locator('.bar-row').first().click();
      await totalIs(page, expected[0]?.total ?? 0);
      expect(faults).to.deep.equal([]);
    });

  it('counts no decisions without a user, session or reason among the rest of a panel, and leads to its own', async () => {
    const of = (name: string, count: number) =>
      Array.from({ length: count }, () =>
        decisionEvent({
          agent_name: 'partly',
          outcome: 'deny',
          user_id: name,
          session_id: name,
          reason: name,
        }),
      );
    const names = ['N', ...Array.from({ length: 8 }, (_, at) => `n-${at}`)];
    const events = [...names.flatMap((name) => of(name, 2)), ...of('', 1)];
    expect(await batchOutcome(sendBatch(world.service, events))).to.include({ accepted: 19 });
    const { page } = await world.newPage();
    await page.goto(world.projectPath('overview', { agent: 'partly' }));
    for (const name of ['Users', 'Sessions', 'Reasons'])
      await page
        .getByRole('region', { name, exact: true })
        .getByRole('link', { name: '1 more', exact: true })
        .waitFor();
    const reasons = page.getByRole('region', { name: 'Reasons', exact: true });
    await reasons.locator('.bar-row').first().click();
    await totalIs(page, 2);
    await page.getByRole('list', { name: 'Active filters' }).getByText('N', { exact: true }).waitFor();
  });

  it('narrows the filters of the page in every panel and link', async () => {
    const events = Object.entries({ deny: 3, needs_approval: 2, allow: 4 }).flatMap(([outcome, count]) =>
      Array.from({ length: count }, () =>
        decisionEvent({ agent_name: 'narrow', outcome, reason: outcome === 'allow' ? '' : `why ${outcome}` }),
      ),
    );
    expect(await batchOutcome(sendBatch(world.service, events))).to.include({ accepted: 9 });
    const { page, faults } = await world.newPage();
    const panel = (name: string) => page.getByRole('region', { name, exact: true });
    const overview = (query: Record<string, string>) =>
      page.goto(world.projectPath('overview', { agent: 'narrow', ...query }));
    const follow = async (link: Locator, total: number) => {
      await link.click();
      await totalIs(page, total);
      expect(new URL(page.url()).searchParams.get('agent')).to.equal('narrow');
      await page.goBack();
    };

    await overview({ outcome: 'needs_approval' });
    await panel('Latest needing approval').getByRole('listitem').nth(1).waitFor();
    await panel('Latest denials').getByText('None in this period.').waitFor();
    await panel('Reasons').getByText('why needs_approval').waitFor();
    expect(await panel('Reasons').locator('.bar-row').count()).to.equal(1);
    await follow(panel('Latest needing approval').getByRole('link', { name: 'All' }), 2);
    await follow(panel('Latest denials').getByRole('link', { name: 'All' }), 0);
    await follow(page.getByRole('link', { name: /^Denial rate 0%/ }), 0);
    await follow(panel('Decisions over time').getByRole('link', { name: 'Allow', exact: true }), 0);
    await page.getByRole('link', { name: 'Most denials' }).click();
    await panel('Users').getByText('None in this period.').waitFor();

    await overview({ 'not.outcome': 'deny', sort: 'approvals' });
    await panel('Users').locator('.bar-count').getByText('2', { exact: true }).waitFor();
    // These count approvals only, without a share of denials.
    expect(
      await panel('Users')
        .getByText(/denied/i)
        .count(),
    ).to.equal(0);
    await follow(panel('Users').locator('.bar-row'), 2);
    await overview({ 'not.outcome': 'deny' });
    await panel('Reasons').getByText('why needs_approval').waitFor();
    expect(await panel('Reasons').locator('.bar-row').count()).to.equal(1);
    await page.getByRole('link', { name: 'Agents active 1' }).click();
    const rows = page.getByRole('region', { name: 'Agents' }).locator('tbody tr');
    await rows.getByText('narrow').waitFor();
    expect(await rows.allInnerTexts()).to.deep.equal(['narrow\tnot registered\t–\t6\t0%\t2\t–']);
    await page.getByRole('list', { name: 'Active filters' }).getByText('narrow').waitFor();
    expect(faults).to.deep.equal([]);
  });

  it('leads from an entry of a legend to these decisions', async () => {
    const { page } = await world.newPage();
    const { buckets } = await askJson<Timeseries>(world.service, 'timeseries', { query: { window: '7d' } });
    const denied = buckets.reduce((sum, { deny }) => sum + deny, 0);
    for (const [from, region, entry] of [
      ['overview', 'Decisions over time', 'Deny'],
      ['overview', 'Denial rate', 'Denied'],
      ['decisions', 'When they occurred', 'Deny'],
    ] as const) {
      await page.goto(world.projectPath(from, { window: '7d' }));
      const legend = page.getByRole('region', { name: region }).locator('.legend');
      await legend.getByRole('link', { name: entry, exact: true }).click();
      await page.waitForURL(/decisions\?window=7d&outcome=deny$/);
      await totalIs(page, denied);
    }
  });

  it('leads from the first and the last bar to the decisions of these bars that are in the period', async () => {
    const dayMs = Math.floor(Date.now() / DAY_MS - 2) * DAY_MS;
    const at = (minute: number) => `${new Date(dayMs + minute * MINUTE_MS).toISOString().slice(0, -5)}Z`;
    // One of each pair is in the period, from 10:37 to 20:12.
    const events = [636, 638, 1211, 1213].map((minute) =>
      decisionEvent({ agent_name: 'edges', occurred_at: at(minute) }),
    );
    expect(await batchOutcome(sendBatch(world.service, events))).to.include({ accepted: 4 });
    const { page, faults } = await world.newPage();
    const path = world.projectPath('overview', { agent: 'edges', from: at(637), to: at(1212) });
    for (const [key, from, to] of [
      ['Home', at(637), at(640)],
      ['End', at(1210), at(1212)],
    ] as const) {
      await page.goto(path);
      const bar = page.getByRole('link', { name: /^Decisions: .*: Allow 1,/ });
      await page.locator('.chart-bucket').first().focus();
      await page.keyboard.press(key);
      await bar.waitFor();
      await page.keyboard.press('Enter');
      await page.waitForURL(/decisions\?/);
      const query = new URL(page.url()).searchParams;
      expect([query.get('from'), query.get('to')]).to.deep.equal([from, to]);
      await totalIs(page, 1);
    }
    expect(faults).to.deep.equal([]);
  });

  it('zooms in the list of decisions by a click on a bar and by a drag; Back returns', async () => {
    const { page, faults } = await world.newPage();
    const { buckets, bucket_seconds } = await askJson<Timeseries>(world.service, 'timeseries', {
      query: { window: '7d' },
    });
    const path = world.projectPath('decisions', { window: '7d' });
    await page.goto(path);
    const plot = page.getByRole('region', { name: 'When they occurred' }).locator('.chart-plot');
    const xOf = async (index: number) => {
      const { x = 0, y = 0, width = 0 } = (await plot.boundingBox()) ?? {};
      return [x + ((index + 0.5) / buckets.length) * width, y + 20] as const;
    };
    const [first, last] = [buckets.length - 4, buckets.length - 2];
    const expectZoom = async (of: [number, number]) => {
      const shown = buckets.slice(of[0], of[1] + 1);
      await page.waitForURL(/from=/);
      const query = new URL(page.url()).searchParams;
      const [from, to] = ['from', 'to'].map((name) => Date.parse(query.get(name) ?? ''));
      const fromMs = Date.parse(shown[0]?.start ?? '');
      expect([from, to]).to.deep.equal([fromMs, fromMs + shown.length * bucket_seconds * 1000]);
      await totalIs(
        page,
        shown.reduce((sum, { total }) => sum + total, 0),
      );
      await page.goBack();
      await page.waitForURL(/decisions\?window=7d$/);
      await plot.waitFor();
    };
    await page.mouse.click(...(await xOf(last)));
    await expectZoom([last, last]);
    await page.mouse.move(...(await xOf(first)));
    await page.mouse.down();
    await page.mouse.move(...(await xOf(last)), { steps: 4 });
    await page.mouse.up();
    await expectZoom([first, last]);
    expect(addressOf(page)).to.equal(path);
    expect(faults).to.deep.equal([]);
  });

  it('has a button for each of the last minutes, hours and days, and advances as time passes', async () => {
    const { page } = await world.newPage();
    const lasts = {
      '15 minutes': 0.25,
      '1 hour': 1,
      '6 hours': 6,
      '12 hours': 12,
      '3 days': 72,
      '14 days': 336,
    };
    const nextRange = async () => {
      const asked = await page.waitForRequest(/audit\/summary\?from=/);
      const query = new URL(asked.url()).searchParams;
      const [from = 0, to = 0] = ['from', 'to'].map((name) => Date.parse(query.get(name) ?? ''));
      return { hours: (to - from) / HOUR_MS, to };
    };
    await page.clock.install();
    await page.goto(world.projectPath('overview'));
    for (const [label, hours] of Object.entries(lasts)) {
      await page.getByRole('button', { name: /^Custom$|^Last / }).click();
      const buttons = page.getByRole('group', { name: 'Last' }).getByRole('button');
      expect(await buttons.allInnerTexts()).to.deep.equal(Object.keys(lasts));
      const asked = nextRange();
      await buttons.filter({ hasText: new RegExp(`^${label}$`) }).click();

      const range = await asked;
      expect(range.hours, label).to.equal(hours);
      // The minute that has begun is part of it.
      expect(range.to - Date.now(), label).to.be.within(-MINUTE_MS, MINUTE_MS);
      await page.getByRole('button', { name: `Last ${label}` }).waitFor();
    }
    const later = nextRange();
    await page.clock.fastForward(10 * MINUTE_MS);

    expect((await later).to - Date.now()).to.be.within(9 * MINUTE_MS, 11 * MINUTE_MS);
    expect(addressOf(page)).to.match(/\?last=14d$/);
  });

  it('follows the clock of the service if that of the browser is wrong', async () => {
    const agent_name = 'punctual';
    const at = (ms: number) => new Date(Date.now() + ms).toISOString();
    const [recent, old] = [-MINUTE_MS, -MINUTE_MS - 7 * DAY_MS].map(at);
    const events = [recent, old].map((occurred_at) => decisionEvent({ agent_name, occurred_at }));
    expect(await batchOutcome(sendBatch(world.service, events))).to.include({ accepted: 2 });
    for (const offMs of [-3 * HOUR_MS, 3 * HOUR_MS]) {
      const initScript = `const now = Date.now; Date.now = () => now() + ${offMs}`;
      const { page } = await world.newPage({ isFresh: true, initScript });
      await page.goto(world.projectPath('overview', { agent: agent_name, last: '15m' }));
      await page.getByRole('link', { name: /^Decisions 1 .*about the same as a week before/ }).waitFor();
      await page.goto(world.projectPath('alerts'));
      await page.getByRole('button', { name: 'Mute for 1 hour' }).click();
      await page.getByText('Muted until').waitFor();
      const settings = `/v1/projects/${world.projectId}/alerts/settings`;
      const { muted_until } = (await (await page.request.get(settings)).json()) as { muted_until: string };
      await page.getByRole('button', { name: 'Unmute' }).click();
      await page.getByRole('button', { name: 'Mute for 1 hour' }).waitFor();

      expect(Date.parse(muted_until) - Date.now()).to.be.within(HOUR_MS - MINUTE_MS, HOUR_MS + 1000);
    }
  });
});
