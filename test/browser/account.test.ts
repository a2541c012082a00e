import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import {
  call,
  cookieOf,
  logIn,
  newEmail,
  PASSWORD as DEFAULT_PASSWORD,
  register,
} from '../support/accounts.ts';
import { eventually } from '../support/eventually.ts';
import { holdNext } from './support/hold.ts';
import { addressOf, expectAccessible, type World, useWorld } from './support/world.ts';

const PASSWORD = 'a long enough password';
const NEW_PASSWORD = 'another long password';

describe('the account pages in a browser', function () {
  const world = useWorld(this, { env: { GATE_READ_AUTH: 'required' } });
  it('lead from the registration through both mailed links to a new password', async () => {
    const { page } = await world.newPage({ isSignedIn: false });
    const email = `ada-${randomUUID().slice(0, 8)}@example.org`;

    // Where mails are printed is answered only after the form was sent.
    const options = await holdNext(page, /auth\/options$/);
    page.on('request', (request) => {
      if (request.url().endsWith('/request-verify-token')) void options.release();
    });
    await page.goto('/register');
    await page.getByLabel('E-mail').fill(email);
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Create account' }).click();
    await page
      .getByText(/^Welcome\. Verify your e-mail address\. .*the link is in its output \(stderr\)/)
      .waitFor();
    await page.getByText('No decisions in the last 24 hours').waitFor();
    await expectAccessible(page);
    expect(addressOf(page)).to.match(/^\/projects\/[0-9a-f-]{36}\/overview$/);

    await page.goto('/account');
    await page.getByText('Your e-mail address is not verified yet.').waitFor();
    await page.goto(await mailedPath(world, 'verify-email', email));
    await page.getByRole('heading', { name: 'E-mail address verified' }).waitFor();
    await expectAccessible(page);
    await page.goto('/account');
    await page.getByText('E-mail address verified.').waitFor();

    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('link', { name: 'Forgot password?' }).click();
    await page.getByLabel('E-mail').fill(email);
    await page.getByRole('button', { name: 'Send link' }).click();
    await page.getByText('the link is in its output (stderr)').waitFor();
    const resetPath = await mailedPath(world, 'reset-password', email);
    await page.goto(resetPath);
    await page.getByLabel('New password').fill(NEW_PASSWORD);
    await page.getByRole('button', { name: 'Set password' }).click();
    await page.getByText('Password changed.').waitFor();

    await signIn(page, email, PASSWORD);
    await page.getByText('Wrong e-mail or password.').waitFor();
    await signIn(page, email, NEW_PASSWORD);
    await page.waitForURL(/\/overview$/);

    // A used link says so, and what to do.
    await page.goto(resetPath);
    await page.getByLabel('New password').fill(NEW_PASSWORD);
    await page.getByRole('button', { name: 'Set password' }).click();
    await page.getByText('This link no longer works').waitFor();
    await page.getByRole('link', { name: 'Request a new link' }).waitFor();
    await expectAccessible(page);
  });

  it('list the own sessions, end the others, and change the password', async () => {
    const { page } = await world.newPage({ isSignedIn: false });
    const { url } = world.service;
    const email = newEmail();
    await register({ url }, email);
    const phone = cookieOf(await logIn({ url }, email));
    await page.goto('/sign-in');
    await signIn(page, email, DEFAULT_PASSWORD);
    await page.waitForURL(/\/overview$/);

    await page.goto('/account');
    await page.getByText('this session').waitFor();
    await page.getByRole('button', { name: 'End', exact: true }).click();
    await eventually(async () => (await call({ url }, '/v1/auth/me', { cookie: phone })).status === 401);
    await page.getByRole('button', { name: 'End', exact: true }).waitFor({ state: 'detached' });
    const watch = cookieOf(await logIn({ url }, email));
    await page.reload();
    await page.getByRole('button', { name: 'End', exact: true }).waitFor();
    // A session that has ended elsewhere goes away as well.
    await call({ url }, '/v1/auth/logout', { method: 'POST', cookie: watch });
    await page.getByRole('button', { name: 'End', exact: true }).click();
    await page.getByRole('button', { name: 'End', exact: true }).waitFor({ state: 'detached' });
    const tablet = cookieOf(await logIn({ url }, email));
    await page.getByLabel('Current password').fill('not the password');
    await page.getByLabel('New password').fill(NEW_PASSWORD);
    await page.getByRole('button', { name: 'Change password' }).click();
    await page.getByText('The current password is wrong.').waitFor();
    await page.getByLabel('Current password').fill(DEFAULT_PASSWORD);
    await page.getByRole('button', { name: 'Change password' }).click();
    await page.getByText('The password is changed.').waitFor();
    await expectAccessible(page);

    expect((await call({ url }, '/v1/auth/me', { cookie: tablet })).status).to.equal(401);
    expect((await logIn({ url }, email, NEW_PASSWORD)).status).to.equal(200);
  });

  it('leave nothing of a signed-out user in the page, not even a draft', async () => {
    // A separate session: the others share one, which would end here.
    const { page } = await world.newPage({ isSignedIn: false });
    const { email = '', password = '' } = world.service.demo.dashboard ?? {};
    const agent = world.projectPath('agents/support-triage');
    await page.goto(`/sign-in?next=${encodeURIComponent(agent)}`);
    await signIn(page, email, password);
    await page.getByText('valid', { exact: true }).waitFor();
    const editor = page.getByRole('textbox', { name: 'Policy in YAML' });
    await editor.click();
    await page.keyboard.insertText('# unsaved\n');
    await page.getByText(email).click();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await signIn(page, email, password);
    await page.getByRole('link', { name: 'Agents', exact: true }).click();
    await page.getByRole('link', { name: 'support-triage' }).click();
    await page.getByText('valid', { exact: true }).waitFor();
    expect(await editor.innerText()).not.to.include('# unsaved');
  });

  it('follow another account that signs in in another tab, before the tab is used again', async () => {
    const { page } = await world.newPage({ isSignedIn: false });
    const { email = '', password = '' } = world.service.demo.dashboard ?? {};
    await page.goto('/sign-in');
    await signIn(page, email, password);
    await page.getByText(email).waitFor();
    const { url } = world.service;
    const other = newEmail();
    await register({ url }, other);
    const [name = '', value = ''] = cookieOf(await logIn({ url }, other)).split('=');
    await page.context().addCookies([{ name, value, url }]);
    await page.evaluate("window.dispatchEvent(new Event('focus'))");
    await page.getByText(other).waitFor();
    expect(await page.getByText(email).count()).to.equal(0);
  });

  it('keep a sign-in when an older answer says that nobody is signed in', async () => {
    const { page } = await world.newPage({ isSignedIn: false });
    const { email = '', password = '' } = world.service.demo.dashboard ?? {};
    const older = await holdNext(page, /auth\/session$/);
    await page.goto('/sign-in');
    await older.asked;
    await signIn(page, email, password);
    await page.getByText(email).waitFor();
    await older.release();
    expect(await page.getByText(email).count()).to.equal(1);
  });

  it('remove every record once the session was ended in another tab', async () => {
    const { page, end } = await newSession(world);
    await page.goto(world.projectPath('activity'));
    const rows = page.getByRole('region', { name: 'Activity' });
    await rows.waitFor();
    await end();
    await page.evaluate("window.dispatchEvent(new Event('focus'))");
    await page.getByRole('heading', { name: 'Your session has ended' }).waitFor();
    expect(await rows.count()).to.equal(0);
  });

  it('remove every record once the session has ended, and lead back to it', async () => {
    const { page, end, signInAgain } = await newSession(world);
    await page.goto(world.projectPath('decisions', { live: '1' }));
    await page.locator('.decision-row').first().click();
    const drawer = page.getByRole('complementary', { name: 'Decision' });
    await drawer.getByText('Event ID').waitFor();
    const address = addressOf(page);

    await end();
    await page.getByRole('heading', { name: 'Your session has ended' }).waitFor();
    expect(await page.locator('.decision-row, .drawer, .chart').count()).to.equal(0);
    await expectAccessible(page);
    await signInAgain();
    await drawer.getByText('Event ID').waitFor();
    expect(addressOf(page)).to.equal(address);
  });

  it('say that an export is refused because the session has ended', async () => {
    const { page, end, signInAgain } = await newSession(world);
    await page.goto(world.projectPath('decisions', { outcome: 'deny' }));
    await page.locator('.decision-row').first().waitFor();
    const format = page.getByRole('link', { name: /CSV/ });
    await page.getByRole('button', { name: 'Export' }).click();
    // No other read must find out first that the session has ended.
    await page.waitForLoadState('networkidle');
    await end();
    await format.click();
    await signInAgain();
    await page.getByRole('button', { name: 'Export' }).click();
    const [download] = await Promise.all([page.waitForEvent('download'), format.click()]);
    expect(download.suggestedFilename()).to.match(/\.csv$/);
  });

  it('keep the draft of a policy when the session ends', async () => {
    const { page, end, signInAgain } = await newSession(world);
    await page.goto(world.projectPath('agents/support-triage'));
    await page.getByText('valid', { exact: true }).waitFor();
    const editor = page.getByRole('textbox', { name: 'Policy in YAML' });
    await editor.click();
    await page.keyboard.insertText('# a draft\n');
    await end();
    await page.keyboard.insertText('# more\n');
    await page.getByRole('heading', { name: 'Your session has ended' }).waitFor();
    // Leaving would lose it: the browser asks.
    const asked: string[] = [];
    page.once('dialog', (dialog) => {
      asked.push(dialog.type());
      void dialog.dismiss();
    });
    await page.evaluate('location.reload()');
    await eventually(() => asked.includes('beforeunload'));
    await signInAgain();
    await page.getByText('valid', { exact: true }).waitFor();
    expect(await editor.innerText()).to.include('# a draft');
  });

  it('says what to do about a verification link that no longer works', async () => {
    const { page } = await world.newPage({ isSignedIn: false });
    await page.goto('/verify-email/not-a-token');
    await page.getByText('This link no longer works').waitFor();
    await page.getByLabel('E-mail').fill('ada@example.org');
    await page.getByRole('button', { name: 'Send a new link' }).click();
    await page.getByText('the link is in its output (stderr)').waitFor();
    // With a mail provider it is on its way.
    await page.route(/auth\/options$/, async (route) =>
      route.fulfill({ json: { ...((await (await route.fetch()).json()) as object), mail: 'sent' } }),
    );
    await page.reload();
    await page.getByLabel('E-mail').fill('ada@example.org');
    await page.getByRole('button', { name: 'Send a new link' }).click();
    await page.getByText('We have sent you a link.').waitFor();
    await expectAccessible(page);
  });

  it('say so when the browser keeps no session', async () => {
    const { page } = await world.newPage({ isSignedIn: false });
    const { email = '', password = '' } = world.service.demo.dashboard ?? {};
    // As with a Secure cookie over plain HTTP.
    await page.route(/auth\/login$/, async (route) => {
      const { 'set-cookie': _cookie, ...headers } = (await route.fetch()).headers();
      await page.context().clearCookies();
      await route.fulfill({ headers, json: {} });
    });
    await page.goto('/sign-in');
    await signIn(page, email, password);
    await page.getByRole('alert').getByText('The browser did not keep the session.').waitFor();
  });

  it('returns to where the sign-in was asked for, and to no other site', async () => {
    const { page } = await world.newPage({ isSignedIn: false });
    const { email = '', password = '' } = world.service.demo.dashboard ?? {};
    const target = world.projectPath('decisions', { outcome: 'deny' });
    await page.goto(target);
    await page.locator('main').getByRole('link', { name: 'Sign in' }).first().click();
    await signIn(page, email, password);
    await page.waitForURL(/outcome=deny/);
    expect(addressOf(page)).to.equal(target);
    await page.getByText(email).waitFor();
    for (const next of ['https://example.org/', '//example.org', '/\\example.org', 'javascript:alert(1)']) {
      await page.goto(`/sign-in?next=${encodeURIComponent(next)}`);
      await page.waitForURL(/\/overview$/);
      expect(page.url()).to.include(world.service.url);
    }
  });
});

/** A page with its own session, how to end that session, and how to sign in if the page says that it has ended. */
async function newSession(world: World) {
  const { page } = await world.newPage({ isSignedIn: false });
  const { email = '', password = '' } = world.service.demo.dashboard ?? {};
  const cookie = cookieOf(await logIn(world.service, email, password));
  const [name = '', value = ''] = cookie.split('=');
  await page.context().addCookies([{ name, value, url: world.service.url }]);
  const end = () => call(world.service, '/v1/auth/logout', { method: 'POST', cookie });
  const signInAgain = async () => {
    await page.getByRole('heading', { name: 'Your session has ended' }).waitFor();
    await page.locator('main').getByRole('link', { name: 'Sign in' }).click();
    await signIn(page, email, password);
  };
  return { page, end, signInAgain };
}

async function signIn(page: Page, email: string, password: string): Promise<void> {
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}

/** The path of the newest link of that kind; the development sender prints its mails. */
function mailedPath(world: World, page: string, email: string): Promise<string> {
  return eventually(() => {
    const output = world.service.output();
    const links = [...output.slice(output.lastIndexOf(email)).matchAll(new RegExp(`/${page}/[\\w-]+`, 'g'))];
    return links.at(-1)?.[0];
  });
}
