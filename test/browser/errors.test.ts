import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { savePolicy } from './support/policy.ts';
import { expectAccessible, useWorld } from './support/world.ts';

type ErrorCase = { code: string; status: number; title: string; advice: string; hasRetry?: boolean };

const CASES: ErrorCase[] = [
  { code: 'forbidden', status: 403, title: 'You have no access to this project', advice: 'Ask a member' },
  {
    code: 'store_unavailable',
    status: 503,
    title: 'Database unavailable',
    advice: 'Retrying automatically.',
    hasRetry: true,
  },
  { code: 'overloaded', status: 503, title: 'The service is busy', advice: 'shorter period', hasRetry: true },
  {
    code: 'internal',
    status: 500,
    title: 'Unexpected error of the service',
    advice: 'Try again',
    hasRetry: true,
  },
];
/** Less than what the pages wait before they try again by themselves. */
const BEFORE_RETRY_MS = 4000;
const READS = /\/v1\/projects\/[^/]+\/(audit|agents|keys|members|activity)/;
const PAGES = [
  'overview',
  'decisions',
  'agents',
  'agents/support-triage',
  'usage',
  'keys',
  'members',
  'activity',
];

describe('error states in a browser', function () {
  const world = useWorld(this);
  for (const { code, status, title, advice, hasRetry = false } of CASES) {
    it(`say what to do about ${code}`, async () => {
      const { page } = await world.newPage();
      await page.route(READS, (route) => route.fulfill(problem(status, code)));
      // One code goes through every page; the others through one of each kind.
      for (const path of code === 'store_unavailable' ? PAGES : PAGES.slice(0, 2)) {
        await page.goto(world.projectPath(path));
        await page.getByText(title).first().waitFor();
        await page.getByText(advice).first().waitFor();
        if (path === 'overview') await expectAccessible(page);
      }
      await page.goto(world.projectPath('overview'));
      if (hasRetry) {
        const again = page.getByRole('button', { name: 'Try again' }).first();
        await again.waitFor();
        await page.unroute(READS);
        await again.click();
        await page.getByText('Decisions over time').waitFor({ timeout: BEFORE_RETRY_MS });
      } else {
        // Until the summary is refused as well, every panel says it for itself.
        await page.getByRole('link', { name: 'Your account' }).first().click();
        await page.getByRole('button', { name: 'Sign out' }).waitFor();
      }
    });
  }

  it('lead to the sign-in when the session has ended, and from there back', async () => {
    const { page } = await world.newPage();
    const { email = '', password = '' } = world.service.demo.dashboard ?? {};
    await page.goto(world.projectPath('overview'));
    await page.getByText(email).waitFor();
    await page.context().clearCookies();
    await page.route(READS, (route) => route.fulfill(problem(401, 'unauthenticated')));
    await page.getByRole('link', { name: 'Decisions', exact: true }).click();
    await page.getByText('Sign in to see this').waitFor();
    await expectAccessible(page);
    await page.locator('main').getByRole('link', { name: 'Sign in' }).click();
    await page.unroute(READS);
    await page.getByLabel('E-mail').fill(email);
    await page.getByLabel('Password').fill(password);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.waitForURL(/\/decisions$/);
    await page.locator('.decision-row').first().waitFor();
  });

  it('tell a stranger who is signed in why nothing can be edited', async () => {
    const { page } = await world.newPage({ isSignedIn: false });
    const data = {
      email: `eve-${randomUUID().slice(0, 8)}@example.org`,
      password: 'a long enough password',
    };
    for (const call of ['register', 'login']) await page.request.post(`/v1/auth/${call}`, { data });
    await page.goto(world.projectPath('agents/support-triage'));
    await page.getByText('Only members can edit.').waitFor();
    await page.getByRole('link', { name: 'your account' }).click();
    await page.getByRole('button', { name: 'Sign out' }).waitFor();
  });

  it('of a later page of decisions stop the list from asking until it is told to', async () => {
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

  it('of one part of an agent go away when that part is asked for again', async () => {
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

  it('of the older of two versions go away when it is asked for again', async () => {
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

  it('of one record are asked for again by themselves', async () => {
    const { page } = await world.newPage();
    const found = /\/audit\/decisions\/none/;
    await page.route(found, (route) => route.fulfill(problem(503, 'store_unavailable')));
    await page.goto(world.projectPath('decisions/none of these'));
    const drawer = page.getByRole('complementary', { name: 'Decision' });
    await drawer.getByText('Retrying automatically.').waitFor();
    await page.unroute(found);
    await drawer.getByText('Decision not found').waitFor();
  });

  it('of a check pass by themselves', async () => {
    const { page } = await world.newPage();
    await page.route(/\/check$/, (route) => route.abort());
    await page.goto(world.projectPath('agents/support-triage'));
    await page.getByText('check failed').waitFor();
    await page.unroute(/\/check$/);
    await page.getByText('valid', { exact: true }).waitFor();
  });

  it('of the editor leave a plain one to read the difference in', async () => {
    const { page } = await world.newPage();
    await page.route(/create-editor/, (route) => route.abort());
    await savePolicy(world, 'checkout-assistant', '# a line more\n');
    await page.goto(world.projectPath('agents/checkout-assistant', { tab: 'versions' }));
    const plain = page.getByRole('textbox', { name: /^Policy: v/ });
    expect(await plain.inputValue()).to.include('# a line more');
    await expectAccessible(page);
  });

  it('of the question who is signed in sign nobody out', async () => {
    const { page } = await world.newPage();
    await page.route(/auth\/me$/, (route) => route.fulfill(problem(503, 'store_unavailable')));
    await page.goto('/account');
    await page.getByText('Loading').waitFor();
    await page.unroute(/auth\/me$/);
    await page.getByRole('button', { name: 'Sign out' }).waitFor();
  });

  it('recover by themselves when the service comes back', async () => {
    const { page } = await world.newPage();
    for (const [path, shows] of [
      ['overview', 'Decisions over time'],
      ['decisions', 'support-triage'],
    ] as const) {
      await page.route(READS, (route) => route.abort());
      await page.goto(world.projectPath(path));
      await page.getByText('The service cannot be reached').waitFor();
      await page.getByText('Retrying automatically.').waitFor();
      await expectAccessible(page);
      await page.unroute(READS);
      await page.getByText(shows).locator('visible=true').first().waitFor();
    }
  });

  it('promise nothing in a form, which does not try again', async () => {
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

  it('say what is not there: an agent, a page, data', async () => {
    const { page } = await world.newPage();
    await page.goto(world.projectPath('agents/nobody'));
    await page.getByText('Agent not found').waitFor();
    await clickedAway(page);
    await page.goto(world.projectPath('decisions', { session_id: 'none of these' }));
    await page.getByText('No decisions match').waitFor();
    await page.getByRole('link', { name: 'Clear filters' }).click();
    await page.locator('.decision-row').first().waitFor();
    await page.goto('/projects/unknown/overview');
    await page.getByText('No decisions in the last 24 hours').waitFor();
    await page.goto('/projects/unknown/agents');
    await page.getByText('No agents yet').waitFor();
    await page.goto('/projects/unknown/usage');
    await page.getByText('No model calls in the last 24 hours').waitFor();
    await expectAccessible(page);
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

/** A page of the dashboard that is none, reached inside the dashboard. */
async function clickedAway(page: Page): Promise<void> {
  await page.evaluate('history.pushState(null, "", "/nowhere"); dispatchEvent(new Event("popstate"))');
  await page.getByText('Page not found').waitFor();
}
