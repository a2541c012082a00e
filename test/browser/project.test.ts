import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { decisionEvent, post } from '../support/events.ts';
import { runCommand } from '../support/processes.ts';
import { expectAccessible, useWorld } from './support/world.ts';

describe('Projects, keys and members in a browser', function () {
  const world = useWorld(this);
  it('shows a new key once; it works until it is revoked', async () => {
    const { page, faults } = await world.newPage();
    await page.goto(world.projectPath('keys'));
    await page.getByLabel('Name').fill('browser test');
    await page.getByRole('button', { name: 'Create key' }).click();
    const once = page.getByRole('status', { name: 'The new key' });
    const key = (await once.locator('pre').innerText()).trim();
    await expectAccessible(page);
    const send = () => post(`${world.service.url}/v1/audit/decisions`, decisionEvent(), { key });
    expect((await send()).status).to.equal(202);

    await page.reload();
    await page
      .getByRole('cell', { name: 'browser test' })
      .or(page.getByText('browser test'))
      .first()
      .waitFor();
    expect(await page.content()).not.to.include(key);

    await page.getByRole('button', { name: 'Revoke browser test' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('row', { name: /^browser test revoked/ }).waitFor();
    expect((await send()).status).to.equal(401);
    expect(faults).to.deep.equal([]);
  });

  it('an empty project says how to send an event, and shows it as it arrives', async () => {
    const { page } = await world.newPage({ isSignedIn: false });
    const { id, key } = await newProject(page);
    await page.goto('/');
    await page.waitForURL(`/projects/${id}/overview`);
    await page.getByText('No decisions in the last 24 hours').waitFor();
    await expectAccessible(page);
    const command = await page.getByRole('region', { name: 'Record a decision' }).innerText();
    const { stdout } = await runCommand('sh', ['-c', command], { env: { GATE_API_KEY: key } });
    expect(JSON.parse(stdout)).to.have.all.keys('event_id');
    await page.getByText('Decisions over time').waitFor({ timeout: 10_000 });
  });

  it('shows a new key although the list of keys fails', async () => {
    const { page } = await world.newPage();
    await page.goto(world.projectPath('keys'));
    await page.getByLabel('Name').fill('shown in spite');
    await page.route(/\/keys$/, (route) =>
      route.request().method() === 'GET' ? route.abort() : route.continue(),
    );
    await page.getByRole('button', { name: 'Create key' }).click();
    await page.getByText('The service cannot be reached').waitFor();
    const key = await page.getByRole('status', { name: 'The new key' }).locator('pre').innerText();
    expect(key.trim()).not.to.equal('');
  });

  it('gives the focus back when a question was answered with no', async () => {
    const { page } = await world.newPage();
    await page.goto(world.projectPath('keys'));
    const revoke = page.getByRole('button', { name: /^Revoke/ }).first();
    await revoke.click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await page.evaluate('document.activeElement.ariaLabel')).to.equal(
      await revoke.getAttribute('aria-label'),
    );
  });

  it('says why an address cannot be made a member', async () => {
    const { page } = await world.newPage();
    await page.goto(world.projectPath('members'));
    await page.getByLabel('Add member by e-mail').fill('nobody@example.org');
    await page.getByRole('button', { name: 'Add' }).click();
    await page.getByText('No account has this verified e-mail address.').waitFor();
    await expectAccessible(page);
  });

  it('writes down what was done', async () => {
    const { page } = await world.newPage();
    await page.goto(world.projectPath('activity'));
    await page.getByText('created a key').first().waitFor();
  });
});

/** A new account's project with a key; the page is signed in to it. */
async function newProject({ request }: Page): Promise<{ id: string; key: string }> {
  const account = { email: `${randomUUID()}@example.org`, password: 'correct horse battery' };
  await request.post('/v1/auth/register', { data: account });
  await request.post('/v1/auth/login', { data: account });
  const { projects } = (await (await request.get('/v1/auth/me')).json()) as { projects: [{ id: string }] };
  const { id } = projects[0];
  const issued = await request.post(`/v1/projects/${id}/keys`, { data: {} });
  const { key } = (await issued.json()) as { key: string };
  return { id, key };
}
