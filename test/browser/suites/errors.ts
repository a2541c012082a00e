import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { expectAccessible, type World } from '../support/world.ts';

type ErrorCase = { code: string; status: number; title: string; advice: string; hasRetry?: boolean };

const CASES: ErrorCase[] = [
  { code: 'unauthenticated', status: 401, title: 'Sign in to see this', advice: 'members of the project' },
  { code: 'forbidden', status: 403, title: 'You have no access to this project', advice: 'Ask a member' },
  {
    code: 'store_unavailable',
    status: 503,
    title: 'The store does not answer',
    advice: 'tries again by itself',
    hasRetry: true,
  },
  { code: 'overloaded', status: 503, title: 'The service is busy', advice: 'shorter window', hasRetry: true },
  {
    code: 'internal',
    status: 500,
    title: 'The service met an unexpected error',
    advice: 'Try again',
    hasRetry: true,
  },
];
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

export function errorsSuite(world: World): void {
  describe('error states', () => {
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
        const button = hasRetry
          ? page.getByRole('button', { name: 'Try again' })
          : page.getByRole('link', { name: 'Sign in' });
        expect(await button.count()).to.be.above(0);
      });
    }

    it('recover by themselves when the service comes back', async () => {
      const { page } = await world.newPage();
      await page.route(READS, (route) => route.abort());
      await page.goto(world.projectPath('overview'));
      await page.getByText('The service cannot be reached').waitFor();
      await expectAccessible(page);
      await page.unroute(READS);
      await page.getByText('Decisions over time').waitFor();
    });

    it('say what is not there: an agent, a page, data', async () => {
      const { page } = await world.newPage();
      await page.goto(world.projectPath('agents/nobody'));
      await page.getByText('There is no such agent').waitFor();
      await clickedAway(page);
      await page.goto(world.projectPath('decisions', { session_id: 'none of these' }));
      await page.getByText('No decisions match').waitFor();
      await page.getByRole('link', { name: 'Clear the filters' }).click();
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
}

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
  await page.getByText('There is no such page').waitFor();
}
