import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { sendDecision } from '../support/audit.ts';
import { decisionEvent } from '../support/events.ts';
import { eventually } from '../support/eventually.ts';
import { runCommand } from '../support/processes.ts';
import { savePolicy } from './support/policy.ts';
import { expectAccessible, useWorld, visit } from './support/world.ts';

type ErrorCase = { code: string; status: number; title: string; advice: string; hasRetry?: boolean };

const CASES: ErrorCase[] = [
  {
    code: 'forbidden',
    status: 403,
    title: 'You do not have access',
    // After the service's own text.
    advice: 'forbidden. Ask an admin',
  },
  {
    code: 'store_unavailable',
    status: 503,
    title: 'Database unavailable',
    advice: 'Retrying automatically.',
    hasRetry: true,
  },
  {
    code: 'overloaded',
    status: 503,
    title: 'The service is busy',
    advice: 'Where the page has a period',
    hasRetry: true,
  },
  {
    code: 'internal',
    status: 500,
    title: 'Unexpected server error',
    advice: 'Try again',
    hasRetry: true,
  },
];
/** Each part of a page that loads separately: the call that fails, and a place that shows it was loaded again. */
const PARTS: [name: string, path: string, fails: RegExp, says: string, shows: string][] = [
  [
    'the chart above the list',
    'decisions',
    /audit\/timeseries/,
    'The chart could not be loaded.',
    '.histogram .chart',
  ],
  [
    'the denial rate',
    'overview',
    /audit\/timeseries/,
    'Unexpected server error',
    '[aria-labelledby=denial-rate] .chart',
  ],
  [
    'the news of Overview',
    'overview',
    /by=reason&limit=1000/,
    'Unexpected server error',
    '[aria-label^="First seen"] .panel-foot',
  ],
  ['the usage over time', 'usage', /llm-usage\/timeseries/, 'Unexpected server error', '.chart'],
  [
    'the models of an agent',
    'usage?models=support-triage',
    /llm-usage\?.*agent=/,
    'Unexpected server error',
    '.usage-model .bar',
  ],
  ...(['overview', 'usage'] as const).map((path): (typeof PARTS)[number] => [
    `what ${path} is compared with`,
    path,
    /timeseries\?.*from=/,
    'The earlier period could not be loaded.',
    '.tile .change',
  ]),
  [
    'what an agent is compared with',
    'agents/support-triage',
    /audit\/timeseries\?.*from=/,
    'Not all of these numbers could be loaded.',
    '.tile:has-text("an hour")',
  ],
  [
    'the health of an agent',
    'agents/support-triage',
    /audit\/llm-usage/,
    'Not all of these numbers could be loaded.',
    '.tile:has-text("model calls")',
  ],
  [
    'the counts of the agents',
    'agents',
    /audit\/summary/,
    'The decisions could not be counted.',
    'tr:has-text("support-triage"):has-text("%")',
  ],
  [
    'the numbers of a session',
    'decisions?session_id=s',
    /audit\/llm-usage/,
    'Not all numbers of the session could be loaded.',
    '.session:has-text("no model calls")',
  ],
  [
    'the check of a policy',
    'agents/support-triage',
    /\/check$/,
    'The policy could not be checked.',
    '.tag-good:has-text("valid")',
  ],
  ['the own role', 'agents/support-triage', /\/members$/, 'Unexpected server error', '.check-status'],
  [
    'the ways to sign in',
    '/sign-in',
    /auth\/options$/,
    'The ways to sign in could not be loaded.',
    '.centered-links',
  ],
  ['the code of the charts', 'usage', /\/charts-[^/]*\.js$/, 'The service cannot be reached', '.chart'],
];
/** Less than the pages wait before they retry automatically. */
const BEFORE_RETRY_MS = 4000;
const READS = /\/v1\/projects\/[^/]+\/(audit|agents|keys|members|activity)/;
const PAGES = [
  'agents',
  'agents/support-triage',
  'usage',
  'keys',
  'members',
  'activity',
  'decisions',
  'overview',
];

describe('error states in a browser', function () {
  const world = useWorld(this);
  for (const { code, status, title, advice, hasRetry = false } of CASES) {
    it(`say what to do about ${code}`, async () => {
      const { page } = await world.newPage();
      await page.route(READS, (route) => route.fulfill(problem(status, code)));
      // One code goes through every page; the others through one of each kind.
      for (const path of code === 'store_unavailable' ? PAGES : PAGES.slice(-2)) {
        await page.goto(world.projectPath(path));
        await page.getByText(title).first().waitFor();
        await page.getByText(advice).first().waitFor();
      }
      if (hasRetry) {
        const again = page.getByRole('button', { name: 'Try again' }).first();
        await again.waitFor();
        await page.unroute(READS);
        await again.click();
        await page.getByText('Decisions over time').waitFor({ timeout: BEFORE_RETRY_MS });
      } else {
        await expectAccessible(page);
        // Until the summary is refused as well, every panel says it for itself.
        await page.getByRole('link', { name: 'Your account' }).first().click();
        await page.getByRole('button', { name: 'Sign out' }).waitFor();
      }
    });
  }

  it('tell a signed-in non-member why nothing can be edited', async () => {
    const { page } = await world.newPage({ isSignedIn: false });
    const data = {
      email: `eve-${randomUUID().slice(0, 8)}@example.org`,
      password: 'a long enough password',
    };
    for (const call of ['register', 'login']) await page.request.post(`/v1/auth/${call}`, { data });
    // They see what is open to all, without contradiction. Only the parts for members say that they are closed.
    await page.goto(world.projectPath('overview'));
    await page.getByRole('heading', { name: 'Decisions over time' }).waitFor();
    expect(await page.getByText(/no access|Only members/).count()).to.equal(0);
    await visit(page, world.projectPath('members'));
    await page.getByText('This credential has no access to this project.').waitFor();
    await visit(page, world.projectPath('agents/support-triage'));
    await page.getByText('Only members can edit.').waitFor();
    await page.getByRole('link', { name: 'your account' }).click();
    await page.getByRole('button', { name: 'Sign out' }).waitFor();
  });

  it('of a later page of decisions stop the list from loading until the user retries', async () => {
    const { page } = await world.newPage();
    let asked = 0;
    await page.route(/cursor=/, (route) => {
      asked += 1;
      return route.fulfill(problem(500, 'internal'));
    });
    await page.goto(world.projectPath('decisions', { window: '7d' }));
    await page.locator('.decision-row').first().waitFor();
    await page.getByRole('grid').focus();
    await page.keyboard.press('End');
    const again = page.getByRole('button', { name: 'Try again' });
    await again.waitFor();
    await page.waitForTimeout(1000);
    expect(asked).to.equal(1);
    await page.unroute(/cursor=/);
    await again.click();
    await page.keyboard.press('End');
    await page.getByRole('grid').focus();
    const end = page.getByText('End of list');
    while (!(await end.isVisible())) await page.keyboard.press('End');
  });

  for (const [name, path, fails, says, shows] of PARTS)
    it(`of one part of a page say so there, and it can be requested again: ${name}`, async () => {
      const { page } = await world.newPage({ isSignedIn: path !== '/sign-in' });
      await page.route(fails, (route) => route.fulfill(problem(500, 'internal')));
      await page.goto(path === '/sign-in' ? path : world.projectPath(path));
      const alert = page.getByRole('alert').filter({ hasText: says }).last();
      await alert.waitFor();
      await expectAccessible(page, '[role=alert]');
      await page.unroute(fails);
      await alert.getByRole('button', { name: 'Try again' }).click();
      await alert.waitFor({ state: 'detached' });
      await page.locator(shows).first().waitFor();
    });

  it('of the values of a filter are shown in their place', async () => {
    const { page } = await world.newPage();
    await page.route(/audit\/breakdown/, (route) => route.fulfill(problem(500, 'internal')));
    await page.goto(world.projectPath('decisions'));
    await page.getByRole('button', { name: 'Agent', exact: true }).click();
    const menu = page.getByRole('group', { name: 'Filter by agent' });
    const again = menu.getByRole('alert').getByRole('button', { name: 'Try again' });
    await again.waitFor();
    await page.unroute(/audit\/breakdown/);
    await again.click();
    await menu.getByRole('checkbox').first().waitFor();
  });

  it('of an export are shown in its menu', async () => {
    const { page } = await world.newPage();
    await page.goto(world.projectPath('decisions'));
    await page.locator('.decision-row').first().waitFor();
    await page.route(READS, (route) => route.fulfill(problem(503, 'store_unavailable')));
    await page.getByRole('button', { name: 'Export' }).click();
    await page.getByRole('link', { name: /NDJSON/ }).click();
    const menu = page.getByRole('group', { name: 'Export' });
    await menu.getByRole('alert').getByText('Database unavailable').waitFor();
    await expectAccessible(page, '.menu-items');
  });

  it('of the dashboard itself leave the navigation and a way on', async () => {
    const { page, faults } = await world.newPage();
    await page.route(/audit\/summary/, (route) => route.fulfill({ json: {} }));
    await page.goto(world.projectPath('overview'));
    const failed = page.getByRole('heading', { name: 'This page failed' });
    await failed.waitFor();
    await expectAccessible(page);
    expect(faults.join()).to.match(/TypeError|undefined/);
    await page.getByRole('link', { name: 'Decisions', exact: true }).click();
    await page.locator('.decision-row').first().waitFor();
    await page.getByRole('link', { name: 'Overview', exact: true }).click();
    await failed.waitFor();
    await page.unroute(/audit\/summary/);
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('Decisions over time').waitFor();
  });

  it('of one part of an agent go away when that part is requested again', async () => {
    const { page } = await world.newPage();
    const version = /\/versions\/\d+$/;
    await page.route(version, (route) => route.fulfill(problem(500, 'internal')));
    await page.goto(world.projectPath('agents/support-triage'));
    const again = page.getByRole('button', { name: 'Try again' });
    await again.waitFor();
    await page.unroute(version);
    await again.click();
    await page.getByText('valid', { exact: true }).waitFor();
  });

  it('of the older of two versions go away when it is requested again', async () => {
    const { page } = await world.newPage();
    await savePolicy(world, 'checkout-assistant', '# another line\n');
    const oldest = /\/versions\/1$/;
    await page.route(oldest, (route) => route.fulfill(problem(500, 'internal')));
    const shown = { tab: 'versions', from: '1', to: '2' };
    await page.goto(world.projectPath('agents/checkout-assistant', shown));
    const again = page.getByRole('button', { name: 'Try again' });
    await again.waitFor();
    await page.unroute(oldest);
    await again.click();
    await page.locator('.cm-changedLine').first().waitFor();
  });

  it('of the numbers of an agent are shown as such, not as numbers that are loading', async () => {
    const { page } = await world.newPage();
    await page.route(/\/versions$|audit\/llm-usage/, (route) => route.fulfill(problem(500, 'internal')));
    await page.goto(world.projectPath('agents/support-triage'));
    const health = page.getByRole('region', { name: /^Health/ });
    const values = health.locator('.tile-value');
    await health.getByText('Not all of these numbers could be loaded.').waitFor();
    await health.getByText('…', { exact: true }).first().waitFor({ state: 'detached' });

    expect((await values.allInnerTexts()).slice(3)).to.deep.equal(['–', '–']);
  });

  it('of one record are retried automatically', async () => {
    const { page } = await world.newPage();
    const found = /\/audit\/decisions\/none/;
    await page.route(found, (route) => route.fulfill(problem(503, 'store_unavailable')));
    await page.goto(world.projectPath('decisions/none of these'));
    const drawer = page.getByRole('complementary', { name: 'Decision' });
    await drawer.getByText('Retrying automatically.').waitFor();
    await page.unroute(found);
    await drawer.getByText('Decision not found').waitFor();
  });

  it('of a check are retried automatically', async () => {
    const { page } = await world.newPage();
    await page.route(/\/check$/, (route) => route.abort());
    await page.goto(world.projectPath('agents/support-triage'));
    await page.getByText('check failed').waitFor();
    await page.unroute(/\/check$/);
    await page.getByText('valid', { exact: true }).waitFor();
  });

  it('of the editor leave a plain one that shows the difference', async () => {
    const { page } = await world.newPage();
    await page.route(/create-editor/, (route) => route.abort());
    await savePolicy(world, 'checkout-assistant', '# a line more\n');
    await page.goto(world.projectPath('agents/checkout-assistant', { tab: 'versions' }));
    const plain = page.getByRole('textbox', { name: /^Policy: v/ });
    expect(await plain.inputValue()).to.include('# a line more');
    await expectAccessible(page);
  });

  it('of the session request sign nobody out', async () => {
    const { page } = await world.newPage();
    await page.route(/auth\/session$/, (route) => route.fulfill(problem(503, 'store_unavailable')));
    await page.goto('/account');
    await page.getByText('Loading').waitFor();
    await page.unroute(/auth\/session$/);
    await page.getByRole('button', { name: 'Sign out' }).waitFor();
  });

  it('of the session request that persist say what to do', async () => {
    const { page } = await world.newPage();
    for (const [status, code, title] of [
      [500, 'internal', 'Unexpected server error'],
      [429, 'rate_limited', 'Too many attempts'],
    ] as const) {
      await page.route(/auth\/session$/, (route) => route.fulfill(problem(status, code)));
      await page.goto('/account');
      const alert = page.getByRole('alert').filter({ hasText: 'Your account could not be loaded.' });
      await alert.getByText(title).waitFor();
      await expectAccessible(page);
      await page.unroute(/auth\/session$/);
      await alert.getByRole('button', { name: 'Try again' }).click();
      await page.getByRole('button', { name: 'Sign out' }).waitFor();
      await alert.waitFor({ state: 'detached' });
    }
  });

  it('recover automatically when the service is back', async () => {
    const { page } = await world.newPage();
    for (const [path, shows] of [
      ['overview', 'Decisions over time'],
      ['decisions', 'support-triage'],
    ] as const) {
      await page.route(READS, (route) => route.abort());
      await page.goto(world.projectPath(path));
      await page.getByText('The service cannot be reached').first().waitFor();
      await page.getByText('Retrying automatically.').first().waitFor();
      await expectAccessible(page);
      await page.unroute(READS);
      await page.getByText(shows).locator('visible=true').first().waitFor();
    }
  });

  it('promise no retry in a form, which does not retry', async () => {
    const { page } = await world.newPage({ isSignedIn: false });
    await page.route(/auth\/login$/, (route) => route.abort());
    await page.goto('/sign-in');
    await page.getByLabel('E-mail').fill('ada@example.org');
    await page.getByLabel('Password').fill('a password');
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    expect(await page.getByRole('alert').innerText())
      .to.include('cannot be reached')
      .and.not.include('automatically');
  });

  it('show in a form what the service says, not how to read less', async () => {
    const { page } = await world.newPage({ isSignedIn: false });
    await page.route(/auth\/login$/, (route) => route.fulfill(problem(503, 'overloaded')));
    await page.goto('/sign-in');
    await page.getByLabel('E-mail').fill('ada@example.org');
    await page.getByLabel('Password').fill('a password');
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    expect(await page.getByRole('alert').innerText()).to.equal('overloaded');
  });

  it('say what does not exist: an agent, a page, data', async () => {
    const { page } = await world.newPage();
    await page.goto(world.projectPath('agents/nobody'));
    await page.getByText('Agent not found').waitFor();
    await visit(page, '/nowhere');
    await page.getByText('Page not found').waitFor();
    await visit(page, world.projectPath('decisions', { session_id: 'none of these' }));
    await page.getByText('No decisions match').waitFor();
    await page.getByRole('link', { name: 'Clear filters' }).click();
    await page.locator('.decision-row').first().waitFor();
    expect((await page.goto('/no/such/page'))?.status()).to.equal(404);
    await page.getByText('Page not found').waitFor();
    await visit(page, world.projectPath('usage'));
    await page.getByText('model-large').first().waitFor();
    await visit(page, '/projects/unknown/overview');
    await page.getByText('Project not found').waitFor();
    // It is not remembered: the start page opens the previous project.
    await page.goto('/');
    await page.waitForURL((url) => url.pathname === world.projectPath('overview'));
  });

  it('of a refresh leave the numbers, and say that they are old', async () => {
    const { page } = await world.newPage({ isFresh: true });
    await page.clock.install();
    await page.goto(world.projectPath('overview'));
    await page.waitForLoadState('networkidle');
    await page.route(READS, (route) => route.fulfill(problem(503, 'store_unavailable')));
    const notice = page.getByRole('alert').filter({ hasText: 'Out of date.' });
    await eventually(async () => {
      await page.clock.fastForward('00:20');
      return await notice.isVisible();
    });
    await notice.getByText('Database unavailable. Retrying automatically.').waitFor();
    expect(await page.locator('.bar-row').count()).to.be.above(0);
    await expectAccessible(page, '[role=alert]');
    await page.unroute(READS);
    await page.clock.fastForward('00:06');
    await notice.waitFor({ state: 'detached' });
  });

  it('of an agent that never registered become the command that registers it', async () => {
    const { page } = await world.newPage();
    await page.goto(world.projectPath('decisions', { agent: 'invoice-clerk' }));
    await page.locator('.decision-row').first().click();
    await page.getByRole('complementary').getByRole('link', { name: 'invoice-clerk' }).click();
    await page.getByText('This agent is not registered').waitFor();
    const command = await page.getByRole('region', { name: 'Register this agent' }).innerText();
    await runCommand('sh', ['-c', command], { env: { GATE_API_KEY: world.service.key } });
    await page.reload();
    await page.getByText('valid', { exact: true }).waitFor();
    const offered = await page.locator('#tools option').evaluateAll((options) => options.length);
    expect(offered).to.equal(3);
  });

  it('of an agent whose name cannot register say so, and offer no command', async () => {
    const { page } = await world.newPage();
    await sendDecision(world.service, decisionEvent({ agent_name: 'team/bot' }));
    await page.goto(world.projectPath(`agents/${encodeURIComponent('team/bot')}`));
    await page.getByText('An agent cannot register by this name').waitFor();
    expect(await page.getByRole('region', { name: 'Register this agent' }).count()).to.equal(0);
  });
});

function problem(status: number, code: string) {
  const body = JSON.stringify({
    type: `urn:gatehouse:problem:${code}`,
    title: code,
    status,
    detail: code,
    code,
  });
  return { status, contentType: 'application/problem+json', body };
}
