import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { startBrowser } from '../support/browser.ts';
import { freePort } from '../support/listen.ts';
import { CLIENT, startOidcProvider, type TestProvider } from '../support/oidc-provider.ts';
import { type Demo, startTestService, storeDirectory, type TestService } from '../support/service.ts';
import { shoot } from './support/shoot.ts';

describe('single sign-on in a browser', function () {
  this.timeout(120_000);
  let browser: Browser;
  let provider: TestProvider;
  let service: TestService;
  let base: string;
  const contexts: BrowserContext[] = [];
  before(async () => {
    base = `http://localhost:${await freePort()}`;
    provider = await startOidcProvider(`${base}/v1/auth/oidc/callback`);
    const dataDir = await storeDirectory();
    const { project_id } = JSON.parse(readFileSync(join(dataDir, 'demo.json'), 'utf8')) as Demo;
    const groups = { auditors: [{ project_id, role: 'viewer' }] };
    service = await startTestService({
      dataDir,
      env: {
        GATE_PORT: new URL(base).port,
        GATE_DASHBOARD_URL: base,
        GATE_PASSWORD_LOGIN: '0',
        GATE_REGISTRATION: 'closed',
        GATE_OIDC_ISSUER: provider.issuer,
        GATE_OIDC_CLIENT_ID: CLIENT.client_id,
        GATE_OIDC_CLIENT_SECRET: CLIENT.client_secret,
        GATE_OIDC_GROUPS: JSON.stringify(groups),
      },
    });
    browser = await startBrowser();
  });
  after(async () => {
    await browser.close();
    await service.stop();
    await provider.stop();
  });
  afterEach(async () => {
    for (const context of contexts.splice(0)) await context.close();
  });

  const newPage = async (): Promise<Page> => {
    const context = await browser.newContext({ viewport: { width: 1200, height: 800 } });
    contexts.push(context);
    return context.newPage();
  };
  const signOn = async (page: Page, login: string, query = '') => {
    await page.goto(`${base}/sign-in${query}`);
    await page.getByRole('link', { name: 'Sign in with single sign-on' }).click();
    await page.waitForURL(`${provider.issuer}/**`);
    await shoot(page, 'single-sign-on-provider');
    await page.locator('input[name=login]').fill(login);
    await page.locator('input[name=password]').fill('any');
    await page.locator('button[type=submit]').click();
    // The first time, the provider asks for consent.
    await page.getByRole('button', { name: 'Continue' }).click();
  };

  it('leads from the sign-in page via the provider to the project that a group gives', async () => {
    provider.people.set('ada', { email: 'ada@example.org', email_verified: true, groups: ['auditors'] });
    const page = await newPage();

    await page.goto(`${base}/sign-in`);
    await page.getByRole('link', { name: 'Sign in with single sign-on' }).waitFor();
    expect(await page.getByLabel('Password').count()).to.equal(0);
    await shoot(page, 'single-sign-on-sign-in');
    await signOn(page, 'ada');
    await page.waitForURL(`${base}/projects/${service.project_id}/overview`);
    await shoot(page, 'single-sign-on-signed-in');
    await page.goto(`${base}/account`);

    await page.getByRole('heading', { name: 'ada@example.org' }).waitFor();
    await page.getByText('this session').waitFor();
    expect(await page.getByLabel('Current password').count()).to.equal(0);
    await shoot(page, 'single-sign-on-account');
  });

  it('leads back to the page where it was requested, and to no other site', async () => {
    const keys = `/projects/${service.project_id}/decisions?outcome=deny&window=7d`;
    for (const [next, shown] of [
      [keys, keys],
      ['//evil.example', `/projects/${service.project_id}/overview`],
    ] as const) {
      provider.people.set('joe', { groups: ['auditors'] });
      const page = await newPage();

      await signOn(page, 'joe', `?next=${encodeURIComponent(next)}`);
      await page.waitForURL(base + shown);
    }
  });

  it('shows on the sign-in page that the provider is unavailable', async () => {
    const page = await newPage();
    provider.forge = {
      change: () => {
        throw new Error('The token endpoint fails');
      },
    };

    await signOn(page, 'eve');

    await page.getByText('The single sign-on provider is unavailable.').waitFor();
    await shoot(page, 'single-sign-on-provider-away');
  });
});
