import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { sendDecision } from '../support/audit.ts';
import { sendBatch } from '../support/batch.ts';
import { decisionEvent } from '../support/events.ts';
import { eventually } from '../support/eventually.ts';
import { longestTaskMs } from './support/longest-task.ts';
import { holdNext } from './support/hold.ts';
import { addressOf, expectAccessible, useWorld, type World } from './support/world.ts';
import { DAY_MS, MINUTE_MS } from '../../server/durations.ts';

describe('Decisions in a browser', function () {
  const world = useWorld(this);
  it('filters, and a shared link shows the same view to someone else', async () => {
    const { page } = await world.newPage();
    await page.goto(world.projectPath('overview', { window: '7d' }));
    await page.getByRole('link', { name: /^support-triage/ }).click();
    await page.waitForURL(/decisions/);
    await outcome(page, /^Needs approval/).click();
    await page.getByRole('button', { name: 'Role' }).click();
    await page.getByRole('checkbox', { name: /^\(none\)/ }).check();
    await page.keyboard.press('Escape');
    await page.waitForURL(/role=(&|$)/);
    await page.locator('.decision-row').first().waitFor();
    await page.locator('.decision-row').nth(2).click();
    const drawer = page.getByRole('complementary', { name: 'Decision' });
    await drawer.getByText('the call cannot be decided again').waitFor();
    // Also once the service has said that the person may edit policies.
    await page.waitForLoadState('networkidle');
    const seen = { total: await totalOf(page), drawer: await drawer.innerText(), rows: await rowsOf(page) };

    const other = await world.newPage({ isSignedIn: false });
    await other.page.goto(addressOf(page));
    const sameDrawer = other.page.getByRole('complementary', { name: 'Decision' });
    await sameDrawer.getByText('the call cannot be decided again').waitFor();

    expect(addressOf(page))
      .to.include('window=7d')
      .and.to.include('agent=support-triage')
      .and.to.match(/role=(&|$)/);
    expect({
      total: await totalOf(other.page),
      drawer: await sameDrawer.innerText(),
      rows: await rowsOf(other.page),
    }).to.deep.equal(seen);
    expect(seen.rows.every((row) => row.includes('(none)') && row.includes('Needs approval'))).to.equal(true);
  });

  it('shows the columns that were chosen, and opens a view by its name', async () => {
    const { page, faults } = await world.newPage();
    const heads = () => page.getByRole('columnheader').allInnerTexts();
    await page.goto(world.projectPath('decisions', { window: '7d', outcome: 'deny' }));
    await page.locator('.decision-row').first().waitFor();
    await page.getByRole('button', { name: 'Columns' }).click();
    const columns = page.getByRole('group', { name: 'Columns' });
    await columns.getByLabel('Session').check();
    await columns.getByLabel('Reason').uncheck();
    await expectAccessible(page, '.menu-items, .decision-head');
    await page.keyboard.press('Escape');
    expect(await heads()).to.deep.equal([
      'Time (UTC)',
      'Outcome',
      'Agent',
      'Tool',
      'Role',
      'User',
      'Session',
    ]);
    const views = page.getByRole('group', { name: 'Saved views' });
    await page.getByRole('button', { name: 'Views' }).click();
    await views.getByLabel('Name of this view').fill('Denials');
    await views.getByRole('button', { name: 'Save view' }).click();
    await expectAccessible(page, '.menu-items');
    await page.goto(world.projectPath('decisions'));
    await page.locator('.decision-row').first().waitFor();
    expect((await heads()).at(-1)).to.equal('Session');
    await page.getByRole('button', { name: 'Columns' }).click();
    await columns.getByLabel('Session').uncheck();
    await page.keyboard.press('Escape');
    expect((await heads()).at(-1)).to.equal('User');
    await page.getByRole('button', { name: 'Views' }).click();
    await views.getByRole('link', { name: 'Denials' }).click();
    await page.waitForURL(/window=7d&outcome=deny/);
    await page.getByRole('columnheader', { name: 'Session' }).waitFor();
    await page.getByRole('button', { name: 'Views' }).click();
    // Another tab has saved one in the meantime.
    await page.evaluate(
      `localStorage.setItem('gatehouse.views.${world.service.project_id}', JSON.stringify([{ name: 'Other', query: '?window=30d' }]))`,
    );
    await views.getByRole('button', { name: 'Delete the view Denials' }).click();
    await views.getByRole('link', { name: 'Other' }).waitFor();
    await views.getByRole('button', { name: 'Delete the view Other' }).click();
    await views.getByText('None saved in this browser yet.').waitFor();
    expect(faults).to.deep.equal([]);
  });

  it('keeps the row of the open decision in view, even when the drawer moves to the next', async () => {
    const { page } = await world.newPage({ viewport: { width: 1280, height: 800 } });
    await page.goto(world.projectPath('decisions', { window: '7d' }));
    await page.locator('.decision-row').first().waitFor();
    const list = page.locator('.decision-list');
    const selected = page.locator('.decision-row[aria-selected=true]');
    const isInView = async () => {
      const [place, row] = [await list.boundingBox(), await selected.boundingBox()];
      if (place === null || row === null) return undefined;
      return row.y >= place.y && row.y + row.height <= place.y + place.height + 1;
    };
    const { x = 0, y = 0, height = 0 } = (await list.boundingBox()) ?? {};
    await page.mouse.click(x + 100, y + height - 50);
    await page.getByRole('complementary', { name: 'Decision' }).waitFor();
    await eventually(isInView);
    for (let step = 0; step < 3; step += 1) {
      const before = addressOf(page);
      await page.getByRole('button', { name: 'Older' }).click();
      await page.waitForURL((url) => url.pathname + url.search !== before);
      await eventually(isInView);
    }
  });

  it('goes back and forth with the browser', async () => {
    const { page } = await world.newPage();
    // All records of the fleet: records that leave the last 24 hours would change the total.
    await page.goto(world.projectPath('decisions', { window: '30d' }));
    const all = await totalOf(page);
    await outcome(page, /^Deny/).click();
    await page.waitForURL(/outcome=deny/);
    await page.getByTestId('total').filter({ hasNotText: all }).waitFor();
    const denied = await totalOf(page);
    expect((await rowsOf(page)).every((row) => row.includes('Deny'))).to.equal(true);
    await page.goBack();
    await page.waitForURL((url) => !url.search.includes('outcome'));
    await page.getByTestId('total').getByText(all, { exact: true }).waitFor();
    expect((await rowsOf(page)).every((row) => row.includes('Deny'))).to.equal(false);
    await page.goForward();
    await page.waitForURL(/outcome=deny/);
    await page.getByTestId('total').getByText(denied, { exact: true }).waitFor();
    expect((await rowsOf(page)).every((row) => row.includes('Deny'))).to.equal(true);
  });

  it('treats an empty search in an address as none', async () => {
    const { page, faults } = await world.newPage();
    await page.goto(world.projectPath('decisions', { q: '' }));
    await page.locator('.decision-row').first().waitFor();
    await page
      .getByRole('region', { name: 'When they occurred' })
      .getByRole('link', { name: /^Decisions: / })
      .first()
      .waitFor();

    expect(faults).to.deep.equal([]);
  });

  it('searches, keeps the focus in the search, and empties it on the way back', async () => {
    const { page } = await world.newPage();
    await page.goto(world.projectPath('decisions'));
    const search = page.getByRole('searchbox', { name: 'Search reasons and arguments' });
    await search.fill('MAY NOT USE');
    await search.press('Enter');
    await page.waitForURL(/q=MAY/);
    await page.getByRole('link', { name: 'Clear filter' }).waitFor();
    await page.locator('.decision-row').first().waitFor();
    expect((await rowsOf(page)).every((row) => row.includes('Role may not use this tool.'))).to.equal(true);
    // A search of denials only: tabs and histogram count what was found.
    const found = await totalOf(page);
    const tabs = page.getByRole('navigation', { name: 'Outcome' });
    await tabs.getByRole('link', { name: `All ${found}` }).waitFor();
    await tabs.getByRole('link', { name: `Deny ${found}` }).waitFor();
    await tabs.getByRole('link', { name: 'Allow 0' }).waitFor();
    const bars = page.getByRole('region', { name: 'When they occurred' });
    const last = bars.getByRole('link', { name: /^Decisions: .*Allow 0, Needs approval 0, Deny / });
    await last.waitFor();
    expect(await page.evaluate('document.activeElement.ariaLabel')).to.equal('Search reasons and arguments');
    // Its values can still be picked, but their counts would ignore the search.
    await page.getByRole('button', { name: 'Agent', exact: true }).click();
    const values = page.getByRole('group', { name: 'Filter by agent' }).locator('.facet-values label');
    await values.getByText('data-analyst', { exact: true }).waitFor();
    expect((await values.allInnerTexts()).join()).not.to.match(/\d/);
    await page.keyboard.press('Escape');
    await page.goBack();
    await page.getByRole('link', { name: 'Clear filter' }).waitFor({ state: 'detached' });
    expect(await search.inputValue()).to.equal('');
  });

  it('marks what the client redacted and what it cut', async () => {
    const { page } = await world.newPage();
    await page.goto(world.projectPath('decisions'));
    await page.locator('.decision-row').first().click();
    const drawer = page.getByRole('complementary', { name: 'Decision' });
    await drawer.locator('.mark-redacted').first().waitFor();
    await page.locator('.decision-row').nth(3).click();
    await drawer.getByText('Truncated by the client from 47 KiB').waitFor();
  });

  it('keeps every digit of a number', async () => {
    const { page } = await world.newPage();
    await record(
      world,
      { tool_name: 'digits', arguments: undefined },
      '{"n":9007199254740993,"m":0.10,"e":1e400}',
    );
    await page.goto(world.projectPath('decisions', { tool: 'digits' }));
    await page.locator('.decision-row').first().click();
    await page.locator('.json-number').first().waitFor();
    expect(await page.locator('.json-number').allInnerTexts()).to.deep.equal([
      '9007199254740993',
      '0.10',
      '1e400',
    ]);
  });

  for (const [decided, words, link] of [
    [{ outcome: 'allow' }, 'It decides the recorded call the same.', 'version 1, line 6'],
    [
      { outcome: 'deny', reason: 'Over the limit.' },
      'It decides the recorded call differently.',
      'version 1',
    ],
  ] as const)
    it(`describes the latest policy for a decision to ${decided.outcome}: ${words}`, async () => {
      const { page } = await world.newPage();
      const event_id = randomUUID();
      const called = { agent_name: 'support-triage', tool_name: 'read_ticket', role: 'lead', reason: '' };
      await record(world, { ...called, ...decided, event_id });
      await page.goto(world.projectPath(`decisions/${event_id}`));

      const drawer = page.getByRole('complementary', { name: 'Decision' });
      await drawer.getByText(words).waitFor();
      expect(await drawer.getByRole('link', { name: /^version / }).innerText()).to.equal(link);
    });

  it('follows new rows while it is live', async () => {
    const { page } = await world.newPage();
    const tool = `live-${randomUUID()}`;
    await record(world, { tool_name: tool, reason: 'first' });
    await page.goto(world.projectPath('decisions', { tool }));
    await page.getByText('End of list').or(page.locator('.decision-row')).first().waitFor();
    await page.getByRole('button', { name: 'Live' }).click();
    expect(addressOf(page)).to.include('live=1');
    await record(world, { tool_name: tool, reason: 'second' });
    await page.getByText('second').waitFor();
    expect(await page.locator('.decision-row').first().innerText()).to.include('second');
    expect(await totalOf(page)).to.equal('2');
  });

  it('inserts a late row far down and drops rows that left the period, while it is live', async () => {
    const { page, faults } = await world.newPage();
    const nowMs = Date.now();
    const at = (minutes: number) =>
      decisionEvent({
        tool_name: 'tide',
        reason: `${minutes} minutes`,
        occurred_at: new Date(nowMs - minutes * MINUTE_MS).toISOString(),
      });
    const minutes = Array.from({ length: 120 }, (_, index) => index + 1);
    expect((await sendBatch(world.service, minutes.map(at))).status).to.equal(202);
    await page.clock.install();
    await page.goto(world.projectPath('decisions', { tool: 'tide', last: '3d', live: '1' }));
    const grid = page.getByRole('grid');
    const rows = page.locator('.decision-row');
    await rows.first().waitFor();
    await grid.focus();
    await page.keyboard.press('End');
    await page.getByText('End of list').waitFor();
    await page.keyboard.press('End');
    await page.getByText('120 minutes').waitFor();

    expect((await sendBatch(world.service, [at(117.5)])).status).to.equal(202);
    await page.getByText('117.5 minutes').waitFor();
    expect(await totalOf(page)).to.equal('121');

    // The clock of the service advances as well: without a date, its answers do not contradict.
    await page.route(/\/v1\//, async (route) => {
      const response = await route.fetch();
      const { date: _date, ...headers } = response.headers();
      await route.fulfill({ response, headers });
    });
    // From now on, the period has only the newest 60 minutes.
    await page.clock.fastForward(3 * DAY_MS - 60.5 * MINUTE_MS);
    await page.getByText('120 minutes').waitFor({ state: 'detached' });
    await eventually(async () => Number(await grid.getAttribute('aria-rowcount')) <= 62);
    await rows.getByText('59 minutes').waitFor();
    expect(Number(await totalOf(page))).to.equal(Number(await grid.getAttribute('aria-rowcount')) - 1);
    expect(faults).to.deep.equal([]);
  });

  it('cuts the name of no agent on a phone where there is room for it', async () => {
    const { page } = await world.newPage({ viewport: { width: 360, height: 800 } });
    await page.goto(world.projectPath('decisions', { outcome: 'needs_approval', agent: 'support-triage' }));
    const name = page.locator('.decision-row .cell-agent').first();
    await name.waitFor();

    expect(await name.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).to.equal(0);
  });

  it('exports what is shown', async () => {
    const { page } = await world.newPage();
    await page.goto(world.projectPath('decisions', { outcome: 'deny', window: '7d' }));
    const total = await totalOf(page);
    const button = page.getByRole('button', { name: 'Export' });
    const menu = page.getByRole('link', { name: /NDJSON/ });
    await page.setViewportSize({ width: 360, height: 800 });
    await button.click();
    const { x, width } = (await menu.boundingBox()) ?? { x: -1, width: 0 };
    expect([x >= 0, x + width <= 360]).to.deep.equal([true, true]);
    await page.keyboard.press('Escape');
    await menu.waitFor({ state: 'detached' });
    expect(await page.evaluate('document.activeElement.textContent.trim()')).to.equal('Export');
    await page.keyboard.press('Enter');
    const [download] = await Promise.all([page.waitForEvent('download'), menu.click()]);
    const lines = readFileSync(await download.path(), 'utf8')
      .trim()
      .split('\n');
    expect(String(lines.length)).to.equal(total);
    expect(lines.every((line) => (JSON.parse(line) as { outcome: string }).outcome === 'deny')).to.equal(
      true,
    );

    const check = await holdNext(page, /audit\/decisions\?.*limit=1$/);
    let downloads = 0;
    page.on('download', () => (downloads += 1));
    await button.click();
    await menu.click();
    await check.asked;
    await page.keyboard.press('Escape');
    await page.getByRole('searchbox').focus();
    await check.release();
    expect(downloads).to.equal(0);
    expect(await page.evaluate('document.activeElement.type')).to.equal('search');
  });

  it('scrolls through 20,000 rows with few elements and no long pause', async () => {
    const { page } = await world.newPage();
    await serveManyRows(page, 20_000);
    await page.goto(world.projectPath('decisions'));
    await page.locator('.decision-row').first().waitFor();
    await page.getByRole('grid').focus();
    const end = page.locator('[aria-rowcount="20001"]').getByText('End of list');
    while (!(await end.isVisible())) await page.keyboard.press('End');
    await page.keyboard.press('End');
    await page.getByText('user-19999').waitFor();
    expect(await page.locator('.decision-row').count()).to.be.below(100);
    const longestMs = await longestTaskMs(page, async () => {
      for (let step = 40; step >= 0; step -= 1) {
        await page.evaluate(`document.querySelector('[role=grid]').scrollTop = ${step * 16_800}`);
      }
    });
    await page.getByText('user-0', { exact: true }).waitFor();
    expect(longestMs).to.be.below(100);
  });
});

/** The tab of an outcome; the chart's legend has a link of that name, too. */
function outcome(page: Page, name: RegExp) {
  return page.getByRole('navigation', { name: 'Outcome' }).getByRole('link', { name });
}

async function totalOf(page: Page): Promise<string> {
  return page.getByTestId('total').innerText();
}

async function rowsOf(page: Page): Promise<string[]> {
  return (await page.locator('.decision-row').allTextContents()).slice(0, 10);
}

/** Records one event; `argumentsText` is put into the body unchanged. */
async function record(
  world: World,
  overrides: Record<string, unknown>,
  argumentsText?: string,
): Promise<void> {
  const event = JSON.stringify(decisionEvent(overrides));
  const body = argumentsText === undefined ? event : `${event.slice(0, -1)},"arguments":${argumentsText}}`;
  expect((await sendDecision(world.service, body)).status).to.equal(202);
}

/** Answers in place of the service: recording this many rows would take long. */
async function serveManyRows(page: Page, total: number): Promise<void> {
  const now = Date.now();
  const outcomes = ['allow', 'deny', 'needs_approval'];
  await page.route(/\/audit\/decisions\?/, async (route) => {
    const query = new URL(route.request().url()).searchParams;
    const from = Number(query.get('cursor') ?? 0);
    const to = Math.min(total, from + 1000);
    const items = Array.from({ length: to - from }, (_, index) => {
      const number = from + index;
      const event_id = `00000000-0000-4000-8000-${String(total - number).padStart(12, '0')}`;
      const occurred_at = new Date(now - number * 1000).toISOString();
      const outcome = outcomes[number % 3];
      return {
        ...decisionEvent({ event_id, occurred_at, outcome, user_id: `user-${number}` }),
        received_at: occurred_at,
      };
    });
    await route.fulfill({
      json: { total, limit: to - from, offset: 0, items, next_cursor: to < total ? String(to) : null },
    });
  });
}
