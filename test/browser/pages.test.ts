import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { sendDecision } from '../support/audit.ts';
import { batchOutcome, sendBatch } from '../support/batch.ts';
import { decisionEvent } from '../support/events.ts';
import { eventually } from '../support/eventually.ts';
import { emitterOf } from '../support/ledger.ts';
import { layoutShiftOf, SHIFT_MAX } from './support/layout-shift.ts';
import { overflowAt } from './support/overflow.ts';
import { shoot } from './support/shoot.ts';
import { expectAccessible, type World, useWorld } from './support/world.ts';

/** Every page, and what it must show with the demo data. */
const PAGES: [name: string, path: (world: World) => string, shows: string, kind?: 'editor' | 'missing'][] = [
  ['Overview', (world) => world.projectPath('overview'), 'Decisions over time'],
  [
    'Overview, 7 days by denials',
    (world) => world.projectPath('overview', { window: '7d', sort: 'denials' }),
    'support-triage',
  ],
  ['Decisions', (world) => world.projectPath('decisions'), 'refund_order'],
  ['Decisions without a role', (world) => world.projectPath('decisions', { role: '' }), '(none)'],
  ['Agents', (world) => world.projectPath('agents'), 'not registered'],
  ['an agent', (world) => world.projectPath('agents/support-triage'), 'Test a call', 'editor'],
  [
    "an agent's versions",
    (world) => world.projectPath('agents/support-triage', { tab: 'versions' }),
    'Compare with',
    'editor',
  ],
  [
    "an agent's fleet",
    (world) => world.projectPath('agents/support-triage', { tab: 'fleet' }),
    'of the keys in use',
  ],
  [
    "an agent's definition",
    (world) => world.projectPath('agents/support-triage', { tab: 'definition' }),
    'System prompt',
    'editor',
  ],
  ['Usage', (world) => world.projectPath('usage'), 'model-large'],
  ['Model calls', (world) => world.projectPath('usage/calls'), 'model-large'],
  ['Alerts', (world) => world.projectPath('alerts'), 'No alerts in the last 90 days'],
  ['Proof', (world) => world.projectPath('proof'), 'Verify it yourself'],
  ['Keys', (world) => world.projectPath('keys'), 'Create key'],
  ['Members', (world) => world.projectPath('members'), 'owner'],
  ['Activity', (world) => world.projectPath('activity'), 'signed in'],
  ['Account', () => '/account', 'Sign out'],
  ['Register', () => '/register', 'Create account'],
  ['Forgot password', () => '/forgot-password', 'Send link'],
  ['Reset password', () => '/reset-password/token', 'Set password'],
  ['the choice of projects', () => '/?choose', 'New project'],
  ['Page not found', () => '/no/such/page', 'Page not found', 'missing'],
  ['no decisions', (world) => world.projectPath('decisions', { agent: 'none' }), 'No decisions match'],
  [
    'no decisions on Overview',
    (world) => world.projectPath('overview', { agent: 'none' }),
    'No decisions match',
  ],
  [
    'a whole list of Overview',
    (world) => world.projectPath('overview', { window: '7d', all: 'tool' }),
    'Show fewer',
  ],
  [
    'a project that is not there',
    () => '/projects/00000000-0000-4000-8000-000000000000/overview',
    'Project not found',
    'missing',
  ],
  [
    'a decision that is not there',
    (world) => world.projectPath('decisions/00000000-0000-4000-8000-000000000000'),
    'Decision not found',
    'missing',
  ],
  [
    'an agent without a registration',
    (world) => world.projectPath('agents/invoice-clerk'),
    'is not registered',
    'missing',
  ],
  ['the choice of a period', (world) => world.projectPath('usage', RANGE), '12:00 UTC'],
  ['Completeness', (world) => world.projectPath('completeness'), 'No sender has numbered its events'],
];
const RANGE = { from: '2026-11-01T12:00:00Z', to: '2026-11-02T12:00:00Z' };

describe('every page with demo data in a browser', function () {
  const world = useWorld(this);
  it('shows its data without a complaint from the browser or axe-core, 360 to 2,560 px wide, reads none twice and moves nothing as it loads', async () => {
    const { page, faults } = await world.newPage();
    const reads: string[] = [];
    page.on('request', (request) => {
      if (request.isNavigationRequest()) reads.length = 0;
      if (request.url().includes('/audit/')) reads.push(request.url());
    });
    for (const [name, path, shows, kind] of PAGES) {
      await page.goto(path(world));
      await page.getByText(shows).locator('visible=true').first().waitFor();
      expect(reads, name).to.deep.equal([...new Set(reads)]);
      if (kind === 'editor') await settled(page);
      await expectAccessible(page).catch((error: Error) => {
        throw new Error(`${name}: ${error.message}`, { cause: error });
      });
      expect(await layoutShiftOf(page), name).to.be.below(SHIFT_MAX);
      for (const width of [360, 2560])
        expect(await overflowAt(page, width), `${name}, ${width} px`).to.be.at.most(0);
      const isExpected = (fault: string) => kind === 'missing' && fault.includes('status of 404');
      expect(
        faults.splice(0).filter((fault) => !isExpected(fault)),
        name,
      ).to.deep.equal([]);
    }
  });

  it('lets visitors without an account open a project by its id', async () => {
    const { page, faults } = await world.newPage({ isSignedIn: false });
    await page.goto('/');
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await expectAccessible(page);
    // The words next to the icons have no room here.
    await page.setViewportSize({ width: 390, height: 800 });
    await expectAccessible(page);
    await page.getByLabel('Open a public project by ID').fill(world.service.project_id);
    await page.getByRole('button', { name: 'Open' }).click();
    await page.getByText('Decisions over time').waitFor();
    await eventually(
      async () => (await page.evaluate("localStorage.getItem('gatehouse.project')")) ?? undefined,
    );
    await page.goto('/');
    await page.getByText('Decisions over time').waitFor();
    expect(faults).to.deep.equal([]);
  });

  it('names in its chart the bar under the pointer, from its left edge to its right one', async () => {
    const { page } = await world.newPage();
    await page.goto(world.projectPath('overview'));
    const chart = page.locator('.chart').first();
    await chart.getByText('Show as table').click();
    const labels = chart.locator('tbody th');
    await labels.first().waitFor();
    const bars = (await labels.allInnerTexts()).toReversed();
    const plot = await chart.locator('.chart-plot').boundingBox();
    if (plot === null) throw new Error('There is no chart');
    const shown = chart.locator('.readout-time');
    for (const at of [0, 5, bars.length - 1])
      for (const part of [0.1, 0.9]) {
        await page.mouse.move(plot.x + (plot.width * (at + part)) / bars.length, plot.y + 50);
        await shown.getByText(bars[at] ?? '', { exact: true }).waitFor();
      }
  });

  it('describes the API in light and dark, opened or not, with a way back', async () => {
    const { page, faults } = await world.newPage();
    await page.goto('/docs');
    await page.getByText('Sign out', { exact: true }).waitFor();
    await shoot(page, 'docs');
    for (const id of ['recordDecision', 'checkPolicy', 'schema-Check'])
      await page.locator(`#${id} > summary`).click();
    await expectAccessible(page);
    await page.getByRole('link', { name: 'Dashboard' }).click();
    await page.getByText('Decisions over time').waitFor();
    expect(faults).to.deep.equal([]);
  });

  it('sends a request from the description of the API, and loads what that needs only then', async () => {
    const { page, faults } = await world.newPage();
    const files: string[] = [];
    page.on('request', (request) => files.push(new URL(request.url()).pathname));
    await page.goto('/docs#me');
    await page.locator('#me[open]').waitFor();
    expect(files).to.deep.equal(['/docs', '/docs/page.css', '/docs/start.js']);

    await page.locator('#me .try').click();
    await page.getByRole('button', { name: 'Execute' }).click();
    await page.locator('.responses-table.live-responses-table').getByText('is_verified').waitFor();
    await page.evaluate('Promise.allSettled(document.getAnimations().map(({ finished }) => finished))');
    await shoot(page, 'docs-try');
    await expectAccessible(page);
    await page.getByRole('link', { name: 'Reference' }).click();
    await page.locator('#me').waitFor();
    expect(faults).to.deep.equal([]);
  });

  it('shows on a phone which page it is: its link is in view', async () => {
    const { page } = await world.newPage({ viewport: { width: 390, height: 800 } });
    for (const name of ['Keys', 'Overview']) {
      await page.goto(world.projectPath(name.toLowerCase()));
      const link = page.getByRole('navigation', { name: 'Project' }).getByRole('link', { name });
      await eventually(async () => {
        const { x = -1, width = 0 } = (await link.boundingBox()) ?? {};
        return x >= 0 && x + width <= 390;
      });
    }
  });

  it('begins at its top, with the focus there, after another page', async () => {
    const { page } = await world.newPage({ viewport: { width: 1000, height: 300 } });
    await page.goto(world.projectPath('overview'));
    await page.locator('.bar-row').first().waitFor();
    await page.evaluate('scrollTo(0, 200)');
    await page.getByRole('link', { name: 'Usage', exact: true }).click();
    await page.getByText('model-large').first().waitFor();
    expect(await page.evaluate('scrollY')).to.equal(0);
    expect(await page.evaluate('document.activeElement.id')).to.equal('content');
  });

  it('restores its scroll position after Back and Forward, even if its content is loaded again', async () => {
    const { page } = await world.newPage({ viewport: { width: 1000, height: 300 } });
    await page.goto(world.projectPath('overview'));
    await page.locator('.latest a').first().waitFor();
    await scrollTo(page, 1600);
    await page.getByRole('link', { name: 'Agents', exact: true }).click();
    await page.getByRole('link', { name: 'support-triage' }).waitFor();
    await scrollTo(page, 50);
    // Saving makes the dashboard forget what it has loaded.
    await page.getByRole('link', { name: 'support-triage' }).click();
    await page.getByText('valid', { exact: true }).waitFor();
    // The editor is made only once it is nearly in view.
    await page.setViewportSize({ width: 1000, height: 800 });
    await page.getByRole('textbox', { name: 'Policy in YAML' }).click();
    await page.keyboard.insertText('# a line\n');
    await page.getByRole('button', { name: 'Save…' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Saved as version').waitFor();
    await page.setViewportSize({ width: 1000, height: 300 });

    await page.goBack();
    await eventually(async () => (await page.evaluate('scrollY')) === 50);
    await page.goBack();
    await eventually(async () => (await page.evaluate('scrollY')) === 1600);
    await page.goForward();
    await eventually(async () => (await page.evaluate('scrollY')) === 50);
  });

  it('also updates the comparison with the previous period', async () => {
    const { page } = await world.newPage({ isFresh: true });
    await page.clock.install();
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    await page.goto(world.projectPath('overview'));
    await page.getByText('than the 24h before').waitFor();
    asked.length = 0;
    await page.clock.fastForward('01:05');
    for (const path of ['timeseries?from=', 'summary?window=7d'])
      await eventually(() => asked.find((url) => url.includes(`/audit/${path}`)));
  });

  it('shows on Overview what is new, with a link to its decisions', async () => {
    await sendDecision(world.service, decisionEvent({ tool_name: 'never_seen_before' }));
    const { page } = await world.newPage();
    await page.goto(world.projectPath('overview'));
    const panel = page.getByRole('region', { name: 'First seen in this period' });
    await panel.getByRole('link', { name: 'never_seen_before' }).click();
    await page.waitForURL(/decisions\?.*tool=never_seen_before/);
  });

  it('compares new names with all stored records, lists all of them, and states what it did not compare', async () => {
    const at = (days: number, event: Record<string, unknown>) => {
      const occurred_at = new Date(Date.now() - days * 86_400_000).toISOString();
      return decisionEvent({ agent_name: 'newcomer', tool_name: 'old_tool', occurred_at, ...event });
    };
    const reasons = Array.from({ length: 1004 }, (_, number) => at(0, { reason: `No. ${number}` }));
    const events = [
      at(20, {}),
      at(2, { tool_name: 'other_tool', reason: 'No. 0' }),
      at(0, { tool_name: 'new_tool' }),
      ...reasons,
    ];
    for (const from of [0, 1000])
      expect(await batchOutcome(sendBatch(world.service, events.slice(from, from + 1000)))).to.include({
        status: 202,
      });
    const { page, faults } = await world.newPage();
    await page.goto(world.projectPath('overview', { agent: 'newcomer' }));
    const panel = page.getByRole('region', { name: 'First seen in this period' });
    // 1,000 of 1,005 reasons; "No. 0" and the one without a text are not new.
    await panel.getByText('Of 1,005 reasons only the 1,000 most frequent were looked at.').waitFor();
    expect(await panel.getByText(/old_tool/).count()).to.equal(0);
    expect(await panel.getByRole('listitem').count()).to.equal(12);
    expect(await panel.getByRole('link').first().innerText()).to.equal('new_tool');
    await panel.getByRole('link', { name: '987 more' }).click();
    await panel.getByRole('link', { name: 'Show fewer' }).waitFor();
    expect(await panel.getByRole('listitem').count()).to.equal(999);
    expect(faults).to.deep.equal([]);
  });

  it('begins the page of an agent with its health, and sorts the list of agents', async () => {
    const { page, faults } = await world.newPage();
    await page.goto(world.projectPath('agents'));
    const names = page.getByRole('region', { name: 'Agents' }).locator('tbody th');
    await names.first().waitFor();
    const before = await names.allInnerTexts();
    await page.getByRole('link', { name: 'Agent', exact: true }).click();
    await page.locator('th[aria-sort=ascending]').waitFor();
    expect(await names.allInnerTexts()).to.deep.equal(before.toSorted());
    await page.getByRole('link', { name: 'Agent', exact: true }).click();
    await page.locator('th[aria-sort=descending]').waitFor();
    expect(await names.allInnerTexts()).to.deep.equal(before.toSorted().toReversed());
    await page.getByRole('link', { name: 'support-triage' }).click();
    const health = page.getByRole('region', { name: 'Health in the last 7 days' });
    for (const text of [
      /^Last decision.*(now|ago).* UTC$/,
      /^Denial rate, 7 days.*\d+ denied$/,
      /^Cost, 7 days.*\$.*model calls?$/,
    ])
      await health.getByRole('link', { name: text }).waitFor();
    await health.getByRole('link', { name: /^Latest version.*of the keys in use$/ }).click();
    await page.getByText('of the keys in use have the latest version').waitFor();
    expect(faults).to.deep.equal([]);
  });

  it('shows the usage of one agent by model', async () => {
    const { page, faults } = await world.newPage();
    await page.goto(world.projectPath('usage', { window: '7d' }));
    const agents = page.getByRole('region', { name: 'By agent' }).locator('tbody tr');
    await agents.nth(1).waitFor();
    await page.getByRole('link', { name: 'Only support-triage' }).click();
    await page.waitForURL(/agent=support-triage/);
    await agents.nth(1).waitFor({ state: 'detached' });
    await page.getByRole('region', { name: 'By model' }).getByText('model-large').waitFor();
    await page.getByRole('link', { name: 'Remove this filter by agent' }).click();
    await agents.nth(1).waitFor();
    expect(faults).to.deep.equal([]);
  });

  it('shows on Overview what did not arrive, and lists the gaps', async () => {
    const emitter = emitterOf(world.service);
    await emitter.send({ sequence: 1, dropped: 0 });
    await emitter.send({ sequence: 6, dropped: 3 }, { agent_name: 'leaky' });
    await emitter.send({ sequence: 8, dropped: 3 }, { agent_name: 'leaky' });
    const { page, faults } = await world.newPage();
    await page.goto(world.projectPath('overview'));
    const panel = page.getByRole('region', { name: 'Completeness' });
    await panel.getByText('37.5% received: 3 dropped by clients, 2 missing').waitFor();
    await panel.getByRole('link', { name: 'Gaps' }).click();
    const rows = page.getByRole('region', { name: 'Events that did not arrive' }).getByRole('row');
    await rows.nth(2).waitFor();

    expect(await rows.nth(0).innerText()).to.match(/^Noticed \(UTC\)/);
    expect(
      (await rows.allInnerTexts()).slice(1).map((row) => row.split(/\s*\t\s*/).slice(1, 6)),
    ).to.deep.equal([
      ['leaky', 'Decisions', '7', '0', '1'],
      ['leaky', 'Decisions', '2–5', '3', '1'],
    ]);
    await expectAccessible(page);
    expect(faults).to.deep.equal([]);
  });

  it('shows in the colours of a contrast theme what is current and which series is which', async () => {
    const { page } = await world.newPage({ isFresh: true });
    await page.emulateMedia({ forcedColors: 'active' });
    await page.goto(world.projectPath('overview'));
    await page.locator('.chart .legend').first().waitFor();
    const outlined = await page.evaluate(`[...document.querySelectorAll('.nav a, [aria-label=Period] a')]
      .filter((link) => getComputedStyle(link).outlineStyle !== 'none').map((link) => link.textContent.trim())`);
    const swatches = await page.evaluate<
      string[]
    >(`[...document.querySelector('.chart').querySelectorAll('.legend')]
      .map((series) => getComputedStyle(series, '::before').backgroundColor).slice(0, 3)`);

    expect(outlined).to.deep.equal(['Overview', '24h']);
    expect(new Set(swatches).size).to.equal(3);
  });

  it('hides nothing in a short window, as on a laptop with a zoom of 200 percent', async () => {
    const { page } = await world.newPage({ viewport: { width: 960, height: 450 } });
    await page.goto(world.projectPath('decisions', { agent: 'support-triage' }));
    await page.locator('.decision-row').first().waitFor();
    const [account, head, filters] = await Promise.all(
      ['.account-link', '.page-head-actions', '.filter-bar'].map((part) =>
        page.evaluate<{ top: number; bottom: number }>(
          `document.querySelector('${part}').getBoundingClientRect().toJSON()`,
        ),
      ),
    );

    expect(account?.bottom).to.be.at.most(450);
    expect(head?.bottom).to.be.at.most(filters?.top ?? 0);
  });

  it('is reached by keyboard alone', async () => {
    const { page } = await world.newPage();
    await page.goto(world.projectPath('overview'));
    await page.getByText('Decisions over time').waitFor();
    await page.keyboard.press('Tab');
    expect(await focusedText(page)).to.equal('Skip to content');
    for (const expected of ['Gatehouse, start page', /^Project/, 'Overview', 'Decisions']) {
      await page.keyboard.press('Tab');
      expect(await focusedText(page)).to.match(new RegExp(expected));
    }
    await page.keyboard.press('Enter');
    await page.getByRole('grid').waitFor();
    await page.getByRole('grid').focus();
    for (const key of ['ArrowDown', 'ArrowDown', 'Enter']) await page.keyboard.press(key);
    await page.getByRole('complementary', { name: 'Decision' }).getByText('Record').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('complementary').waitFor({ state: 'detached' });
    expect(await page.evaluate('document.activeElement.getAttribute("role")')).to.equal('grid');
  });
});

/** The editor is in a separate file; until it is loaded, axe would look at the grey lines. */
async function settled(page: Page): Promise<void> {
  await page.locator('.cm-content').first().waitFor();
  await page.locator('.is-waiting').first().waitFor({ state: 'detached' });
}

async function scrollTo(page: Page, top: number): Promise<void> {
  await page.evaluate(
    `new Promise((done) => { addEventListener('scrollend', done, { once: true }); scrollTo(0, ${top}); })`,
  );
}

async function focusedText(page: Page): Promise<string> {
  const script = '(({ textContent, ariaLabel }) => ariaLabel ?? textContent.trim())(document.activeElement)';
  return String(await page.evaluate(script));
}
