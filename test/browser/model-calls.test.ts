import { expect } from 'chai';
import type { Locator, Page } from 'playwright-core';
import { register } from '../support/agents.ts';
import { type BatchAnswer, sendBatch } from '../support/batch.ts';
import { decisionEvent, llmInvocation } from '../support/events.ts';
import { eventually } from '../support/eventually.ts';
import { overflowAt } from './support/overflow.ts';
import { holdNext } from './support/hold.ts';
import { shoot } from './support/shoot.ts';
import { expectAccessible, useWorld, visit } from './support/world.ts';
import { HOUR_MS } from '../../server/durations.ts';

const PHONE = { width: 390, height: 844 };
/** The list renders the rows in view and some around them. */
const RENDERED_MAX = 80;

describe('model calls in a browser', function () {
  const world = useWorld(this);
  const fromMs = Date.now() - 3 * HOUR_MS;
  const timeOf = (second: number) => new Date(fromMs + second * 1000).toISOString();
  const call = (second: number, fields: object) =>
    llmInvocation({ occurred_at: timeOf(second), agent_name: 'caller', user_id: 'u', ...fields });
  const record = async (stream: 'decisions' | 'llm-invocations', events: unknown[]) => {
    const answer = await sendBatch(world.service, events, { path: `/v1/audit/${stream}/batch` });
    const { accepted } = (await answer.json()) as BatchAnswer;
    expect(accepted).to.equal(events.length);
  };
  before('three sessions', async () => {
    await record('llm-invocations', [
      call(0, {
        session_id: 'mixed',
        model: 'm-plan',
        duration_ms: 2300,
        cost_usd: 0.25,
        finish_reason: 'stop',
      }),
      // At the time of a decision, which it led to.
      call(5, { session_id: 'mixed', model: 'm-act', input_tokens: 12_345, error_type: 'rate_limited' }),
      ...['m-plan', 'm-plan', 'm-act'].map((model, index) =>
        call(20 + index, { session_id: 'calls-only', model, agent_name: 'quiet', cost_usd: index }),
      ),
    ]);
    const decision = (second: number, fields: object) =>
      decisionEvent({ occurred_at: timeOf(second), agent_name: 'caller', ...fields });
    const reason =
      'Role may not use this tool, whatever its arguments are, and however often it asks for it.';
    await record('decisions', [
      decision(5, { session_id: 'mixed', tool_name: 't-deny', outcome: 'deny', reason }),
      decision(65, { session_id: 'mixed', tool_name: 't-allow', agent_name: 'helper' }),
    ]);
    // More decisions at first and more calls at last, so that the pages of the two lists cover different times.
    const isCall = (index: number) => index % 10 < (index < 600 ? 3 : 7);
    const numbers = Array.from({ length: 1300 }, (_, index) => index);
    const long = { session_id: 'long' };
    const calls = numbers.filter(isCall).map((n) => call(100 + n, { ...long, model: `step-${n}` }));
    const others = numbers.filter((n) => !isCall(n));
    await record('llm-invocations', calls);
    await record(
      'decisions',
      others.map((n) => decision(100 + n, { ...long, tool_name: `step-${n}` })),
    );
  });
  const timelineOf = (session_id: string) => world.projectPath('decisions', { session_id, view: 'timeline' });

  it('counts a session without the other filters, says so, and drops them for its timeline', async () => {
    const { page, faults } = await world.newPage();
    const total = page.getByTestId('total');
    const panel = page.getByRole('region', { name: 'Session', exact: true });
    // An older link, from when the timeline ignored the filters.
    await page.goto(`${timelineOf('mixed')}&outcome=deny`);
    await total.getByText('1', { exact: true }).waitFor();
    expect(await page.locator('.decision-row').count()).to.equal(1);
    await panel.getByText('mixed without the other filters: 2 decisions, 1 denied, ').waitFor();
    await panel.getByText('2 model calls').waitFor();

    await panel.getByRole('link', { name: 'Timeline' }).click();
    await stepsOf(page).nth(3).waitFor();
    await total.getByText('2', { exact: true }).waitFor();
    await panel.getByText(/^mixed: 2 decisions, .* UTC \(1 min\)/).waitFor();
    expect(new URL(page.url()).searchParams.has('outcome')).to.equal(false);
    expect(faults).to.deep.equal([]);
  });

  it('shows the decisions and the model calls of a session in order', async () => {
    const { page, faults } = await world.newPage();
    await page.goto(timelineOf('mixed'));
    const steps = stepsOf(page);
    await steps.nth(3).waitFor();

    const texts = (await steps.allInnerTexts()).map((text) =>
      text.replaceAll(/\s*\n\s*/g, ' | ').replace(/^[^|]*\| /, ''),
    );
    expect(texts).to.deep.equal([
      'model call | m-plan | caller · 2.3 s · 100 in · 20 out · $0.25 · stop',
      '+5.0 s | model call | m-act | 12.3K in · 20 out · rate_limited',
      '+0 ms | Deny | t-deny | Role may not use this tool, whatever its arguments are, and however often it asks for it.',
      '+1 min | Allow | t-allow | helper',
    ]);
    await shoot(page, 'timeline');
    await expectAccessible(page);
    await page.setViewportSize(PHONE);
    await shoot(page, 'timeline-phone');
    await expectAccessible(page);
    for (const width of [360, 2560]) expect(await overflowAt(page, width)).to.be.at.most(0);
    await page.getByRole('link', { name: /t-deny/ }).click();
    await page.getByRole('complementary', { name: 'Decision' }).getByText('t-deny').first().waitFor();
    expect(faults).to.deep.equal([]);
  });

  it('shows a session that has only model calls, and one that has nothing', async () => {
    const { page } = await world.newPage();
    await page.goto(timelineOf('calls-only'));
    await stepsOf(page).nth(2).waitFor();
    expect(await stepsOf(page).locator('b').allInnerTexts()).to.deep.equal(['m-plan', 'm-plan', 'm-act']);
    await page.getByText('calls-only: no decisions; 3 model calls, 360 tokens, $3.00').waitFor();

    await visit(page, timelineOf('nobody'));
    await page.getByText('No decisions and no model calls in the last 24 hours').waitFor();
  });

  it('loads a long session to its first step, in order and without a gap, and renders only what is in view', async () => {
    const { page } = await world.newPage();
    await page.goto(timelineOf('long'));
    const more = page.getByRole('button', { name: 'Load earlier' });
    const inViewIs = (step: string) => eventually(async () => (await firstInView(page)) === step);
    const counts: number[] = [];
    for (;;) {
      await stepsOf(page).first().waitFor();
      counts.push(await rowCountOf(page));
      const numbers = await page.evaluate<number[]>(ALL_NUMBERS);
      expect(numbers).to.deep.equal(numbers.map((_, index) => 1300 - numbers.length + index));
      if (!(await more.isVisible())) break;
      await page.getByRole('region', { name: 'Steps' }).evaluate((element) => (element.scrollTop = 0));
      const inView = `step-${numbers[0]}`;
      await inViewIs(inView);
      const before = await rowCountOf(page);
      await more.click();
      await eventually(async () => (await rowCountOf(page)) > before);
      await inViewIs(inView);
    }
    expect(counts.length).to.be.above(2);
    expect(counts.at(-1)).to.equal(1300);
    expect(await stepsOf(page).count()).to.be.below(RENDERED_MAX);
  });

  it('links each sum of the page Usage to its calls, and these to the session', async () => {
    const { page, faults } = await world.newPage();
    const region = (name: string) => page.getByRole('region', { name, exact: true });
    const follow = async (link: Locator, query: Record<string, string>, total: number) => {
      await visit(page, world.projectPath('usage', { window: '7d' }));
      await link.click();
      await page.waitForURL(/\/usage\/calls\?/);
      const { searchParams } = new URL(page.url());
      expect(Object.fromEntries(searchParams)).to.deep.equal({ window: '7d', ...query });
      await page.getByTestId('total').getByText(String(total), { exact: true }).waitFor();
    };
    const named = (name: string) => ({ name, exact: true });
    await page.goto(world.projectPath('usage', { window: '7d' }));
    await follow(region('By model').getByRole('link', named('m-act')), { model: 'm-act' }, 2);
    await follow(region('By agent').getByRole('link', named('quiet')), { agent: 'quiet' }, 3);
    await follow(region('By session').getByRole('link', named('mixed')), { session_id: 'mixed' }, 2);
    await visit(page, world.projectPath('usage', { window: '7d' }));
    await page.getByRole('link', { name: 'Models of quiet' }).click();
    await page.locator('.usage-model').getByRole('link', named('m-plan')).click();
    await page.waitForURL(/\/usage\/calls\?/);
    expect(page.url()).to.match(/\?window=7d&agent=quiet&model=m-plan$/);
    await page.getByTestId('total').getByText('2', { exact: true }).waitFor();
    await page.getByRole('link', named('calls-only')).first().click();
    await page.waitForURL(/\/decisions\?window=7d&session_id=calls-only&view=timeline$/);
    await stepsOf(page).nth(2).waitFor();
    expect(faults).to.deep.equal([]);
  });

  it('orders users and sessions of the page Usage by the heads of their columns', async () => {
    const { page } = await world.newPage();
    await page.goto(world.projectPath('usage', { agent: 'caller' }));
    const sessions = page.getByRole('region', { name: 'By session', exact: true });
    const names = async () => {
      await sessions.locator('tbody tr').nth(1).waitFor();
      return (await sessions.locator('tbody th').allInnerTexts()).map((text) => text.split('\n')[0]);
    };
    expect(await names()).to.deep.equal(['mixed', 'long']);
    await sessions.scrollIntoViewIfNeeded();
    await shoot(page, 'usage');
    await sessions.getByRole('link', { name: 'Calls' }).click();
    await page.waitForURL(/order-session=-Calls/);
    await sessions.locator('th[aria-sort=descending]').getByText('Calls').waitFor();
    expect(await names()).to.deep.equal(['long', 'mixed']);
    await sessions.getByRole('link', { name: 'Session', exact: true }).click();
    await sessions.locator('th[aria-sort=ascending]').getByText('Session').waitFor();
    expect(await names()).to.deep.equal(['long', 'mixed']);
  });

  it('sums up tokens beyond 2^53', async () => {
    const { page, faults } = await world.newPage();
    const huge = { agent_name: 'huge', input_tokens: Number.MAX_SAFE_INTEGER };
    await record(
      'llm-invocations',
      [0, 1, 2].map((second) => call(second, huge)),
    );
    await page.goto(world.projectPath('usage', { agent: 'huge' }));
    await page.locator('.tile', { hasText: 'Input tokens' }).getByText('27,021.6T').waitFor();
    await page.getByRole('region', { name: 'Tokens over time' }).getByText('Show as table').waitFor();
    expect(await page.locator('main').innerText()).not.to.include('NaN');
    expect(faults).to.deep.equal([]);
  });

  it('states what the sums by agent leave out', async () => {
    const occurred_at = new Date(Date.now() - 50 * 24 * HOUR_MS).toISOString();
    const crowd = () =>
      Array.from({ length: 1000 }, (_, at) => call(0, { occurred_at, agent_name: `crowd-${at}` }));
    await record('llm-invocations', crowd());
    await record('llm-invocations', crowd());
    await record('llm-invocations', [call(0, { occurred_at, agent_name: 'costly', cost_usd: 9000 })]);
    const { page, faults } = await world.newPage();
    const to = new Date(Date.parse(occurred_at) + HOUR_MS).toISOString();
    await page.goto(world.projectPath('usage', { from: occurred_at, to }));
    const agents = page.getByRole('region', { name: 'By agent', exact: true });
    await agents
      .getByText('Only the 1,000 with the most calls are listed. The others made 1 call for $9,000.00.')
      .waitFor();
    const models = page.getByRole('region', { name: 'By model', exact: true });
    expect(await models.getByText(/are listed\./).count()).to.equal(0);
    expect(faults).to.deep.equal([]);
  });

  it('shows the values of a filter without counts if these would ignore the model', async () => {
    const { page } = await world.newPage();
    await page.goto(world.projectPath('usage/calls', { model: 'm-act' }));
    const textsIn = async (label: string, value: string) => {
      await page.getByRole('search').getByRole('button', { name: label }).click();
      const menu = page.getByRole('group', { name: `Filter by ${label.toLowerCase()}` });
      await menu.getByText(value, { exact: true }).waitFor();
      const texts = await menu.locator('.facet-values label').allInnerTexts();
      await page.keyboard.press('Escape');
      return texts.map((text) => text.replaceAll(/\s+/g, ' ').trim());
    };
    expect(await textsIn('Agent', 'quiet')).to.include('quiet');
    expect(await textsIn('Model', 'm-plan')).to.include('m-plan 3');
  });

  it('shows no error of the older rows of another list', async () => {
    const { page } = await world.newPage();
    await page.goto(world.projectPath('usage/calls', { window: '7d' }));
    const older = page.getByRole('button', { name: 'Load older' });
    await older.waitFor();
    await page.route(/cursor=/, (route) => route.abort());
    await older.click();
    const error = page.getByText('The service cannot be reached');
    await error.waitFor();
    await visit(page, world.projectPath('usage/calls', { window: '7d', agent: 'quiet' }));
    await page.getByTestId('total').getByText('3', { exact: true }).waitFor();
    expect(await error.count()).to.equal(0);
  });

  it('lists the single calls, filtered, sorted and page by page', async () => {
    const { page, faults } = await world.newPage();
    await page.goto(world.projectPath('usage/calls', { agent: 'caller', window: '7d' }));
    const older = await holdNext(page, /cursor=/);
    await page.getByRole('button', { name: 'Load older' }).click();
    await older.asked;
    // Another list does not wait for the pages of this one.
    await visit(page, world.projectPath('usage/calls', { agent: 'caller' }));
    const rows = page.locator('tbody tr');
    await rows.nth(99).waitFor();
    await page.getByText('The newest 100 are loaded').waitFor();
    await page.getByRole('button', { name: 'Load older' }).click();
    await rows.nth(199).waitFor();
    await page.evaluate('scrollTo(0, 0)');
    await page.getByRole('columnheader', { name: 'Time (UTC)' }).waitFor();
    await shoot(page, 'calls');
    await page.getByRole('search').getByRole('button', { name: 'Session' }).click();
    await page.getByRole('checkbox', { name: /^mixed/ }).click();
    await page.getByTestId('total').getByText('2', { exact: true }).waitFor();
    await page.keyboard.press('Escape');
    await rows.nth(2).waitFor({ state: 'detached' });
    expect(await rows.nth(0).innerText()).to.include('rate_limited');
    await page.getByRole('link', { name: 'Duration' }).click();
    await page.waitForURL(/order=-Duration/);
    await page.locator('th[aria-sort=descending]').getByText('Duration').waitFor();
    expect(await rows.nth(0).innerText()).to.match(/m-plan[^]*2\.3 s[^]*\$0\.25[^]*stop/);
    await page.setViewportSize(PHONE);
    await shoot(page, 'calls-phone');
    await expectAccessible(page);
    for (const width of [360, 2560]) expect(await overflowAt(page, width)).to.be.at.most(0);
    await page.getByRole('link', { name: 'Usage', exact: true }).last().click();
    await page.getByRole('region', { name: 'By model', exact: true }).waitFor();
    expect(faults).to.deep.equal([]);
  });

  it('abbreviates large costs where space is tight, and shows the exact value nearby', async () => {
    const { page } = await world.newPage();
    await record('llm-invocations', [
      call(0, { agent_name: 'dear', cost_usd: 23_456_789.12 }),
      call(0, { agent_name: 'free', cost_usd: 0 }),
    ]);
    await page.goto(world.projectPath('usage', { agent: 'dear' }));
    const cost = page.locator('.tile', { hasText: 'Cost' }).locator('.tile-value');
    await cost.getByText('$23.5M', { exact: true }).waitFor();
    expect(await cost.getAttribute('title')).to.equal('$23,456,789.12');
    const chart = page.getByRole('region', { name: 'Cost over time' });
    const models = page.getByRole('region', { name: 'By model' });
    await models.getByText('$23,456,789.12').waitFor();
    await chart.getByText('$30M', { exact: true }).waitFor({ state: 'attached' });
    for (const width of [1440, 375]) {
      await page.setViewportSize({ width, height: 800 });
      const panel = await chart.boundingBox();
      for (const tick of await chart.locator('.chart-y span').all())
        expect((await tick.boundingBox())?.x).to.be.at.least(panel?.x ?? Infinity);
      if (width < 1000) continue;
      const table = `document.querySelector('[aria-label="By model"] .table-scroll')`;
      expect(await page.evaluate(`${table}.scrollWidth - ${table}.clientWidth`)).to.equal(0);
    }

    await visit(page, world.projectPath('usage', { agent: 'free' }));
    await cost.getByText('$0.00', { exact: true }).waitFor();
    await page.locator('.tile', { hasText: 'Cost' }).getByText('as reported', { exact: true }).waitFor();

    await register(world.service, { name: 'dear', tools: [] });
    await visit(page, world.projectPath('agents/dear'));
    await cost.getByText('$23.5M', { exact: true }).and(cost.getByTitle('$23,456,789.12')).waitFor();
    // It has been seen, but has made no decision.
    await page.getByRole('link', { name: /^Last decision never/ }).waitFor();
  });
});

function stepsOf(page: Page): Locator {
  return page.getByRole('list', { name: 'Timeline of the session' }).getByRole('listitem');
}

/** How many steps the timeline has, rendered or not. */
const ROW_COUNT = `(() => {
  const list = document.querySelector('.timeline');
  return Math.round(list.clientHeight / list.firstElementChild.offsetHeight);
})()`;

/** The numbers of all steps, scrolled through from the start. */
const ALL_NUMBERS = `(async () => {
  const place = document.querySelector('.timeline-steps');
  const steps = () => [...place.querySelectorAll('li')];
  const isRendered = async (check) => {
    while (!check()) await new Promise(requestAnimationFrame);
  };
  const numbers = new Set();
  place.scrollTop = 0;
  await isRendered(() => steps()[0].ariaPosInSet === '1');
  for (;;) {
    for (const step of steps()) numbers.add(Number(step.querySelector('b').textContent.replace('step-', '')));
    const last = steps().at(-1).ariaPosInSet;
    if (last === String(${ROW_COUNT})) return [...numbers];
    place.scrollTop += place.clientHeight;
    await isRendered(() => steps().at(-1).ariaPosInSet !== last);
  }
})()`;

function rowCountOf(page: Page): Promise<number> {
  return page.evaluate<number>(ROW_COUNT);
}

/** The step at the upper edge. */
function firstInView(page: Page): Promise<string | undefined> {
  return page.evaluate<string | undefined>(`(() => {
    const { left, top } = document.querySelector('.timeline-steps').getBoundingClientRect();
    return document.elementFromPoint(left + 30, top + 10).closest('li')?.querySelector('b').textContent;
  })()`);
}
