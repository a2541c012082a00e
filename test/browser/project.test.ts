import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { decodeJwt } from 'jose';
import { call, newMember, newVerifiedPerson, PASSWORD } from '../support/accounts.ts';
import { sendDecision } from '../support/audit.ts';
import { eventually } from '../support/eventually.ts';
import { decisionEvent } from '../support/events.ts';
import { ingest, issue, demoOwner } from '../support/keys.ts';
import { runCommand } from '../support/processes.ts';
import { holdNext } from './support/hold.ts';
import { overflowAt } from './support/overflow.ts';
import { savePolicy } from './support/policy.ts';
import { pullPolicies } from './support/seed.ts';
import { addressOf, expectAccessible, useWorld, visit } from './support/world.ts';

const PHONE = { width: 390, height: 800 };

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
    const send = () => sendDecision(world.service, decisionEvent(), { key });
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
    for (const [empty, shows] of [
      ['agents', 'No agents yet'],
      ['usage', 'No model calls in the last 24 hours'],
      ['overview', 'No decisions in the last 24 hours'],
    ] as const) {
      await visit(page, `/projects/${id}/${empty}`);
      await page.getByText(shows).waitFor();
      await expectAccessible(page);
    }
    const command = await page.getByRole('region', { name: 'Record a decision' }).innerText();
    const { stdout } = await runCommand('sh', ['-c', command], { env: { GATE_API_KEY: key } });
    expect(JSON.parse(stdout)).to.have.all.keys('event_id');
    await page.getByText('Decisions over time').waitFor({ timeout: 10_000 });
  });

  it('shows a new key even if the list of keys fails', async () => {
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

  it('keeps a new key for a person who has left the page while it was created', async () => {
    const { page } = await world.newPage();
    await page.goto(world.projectPath('keys'));
    await page.getByLabel('Name').fill('left behind');
    const creation = await holdNext(page, /\/keys$/, { method: 'POST' });
    await page.getByRole('button', { name: 'Create key' }).click();
    await creation.asked;
    await visit(page, '/account');
    await page.getByRole('heading', { name: 'Account', exact: true }).waitFor();
    await creation.release();
    await page.getByText('The new key waits on the page Keys.').waitFor();
    await visit(page, world.projectPath('keys'));
    await page.getByRole('region', { name: 'Key left behind' }).waitFor();
  });

  it('keeps what is typed while a form is sent, and empties the form otherwise', async () => {
    const { page } = await world.newPage();
    const { email } = await newVerifiedPerson(world.service);
    const forms = [
      { path: 'keys', label: 'Name', button: 'Create key', value: 'typed first' },
      { path: 'members', label: 'Add member by e-mail', button: 'Add', value: email },
    ];
    for (const { path, label, button, value } of forms) {
      await page.goto(world.projectPath(path));
      const field = page.getByLabel(label);
      await field.fill(value);
      const sent = await holdNext(page, new RegExp(`/${path}$`), { method: 'POST' });
      await page.getByRole('button', { name: button, exact: true }).click();
      await sent.asked;
      await field.fill('next');
      await sent.release();
      await page.getByRole('row', { name: value }).waitFor();
      expect(await field.inputValue(), path).to.equal('next');
    }
    await page.goto(world.projectPath('keys'));
    await page.getByLabel('Name').fill('typed last');
    await page.getByLabel('edit policies').check();
    await page.getByRole('button', { name: 'Create key' }).click();
    await page.getByRole('row', { name: 'typed last' }).waitFor();
    expect(await page.getByLabel('Name').inputValue()).to.equal('');
    expect(await page.getByLabel('edit policies').isChecked()).to.equal(false);
    const other = await newVerifiedPerson(world.service);
    await page.goto(world.projectPath('members'));
    await page.getByLabel('Add member by e-mail').fill(other.email);
    await page.getByLabel('Role', { exact: true }).selectOption('viewer');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByRole('row', { name: other.email }).waitFor();
    expect(await page.getByLabel('Add member by e-mail').inputValue()).to.equal('');
    expect(await page.getByLabel('Role', { exact: true }).inputValue()).to.equal('editor');
  });

  it('shows a message for its full time, also if an equal one was shown before', async () => {
    const { email } = await newMember(world.service, await demoOwner(world.service), 'viewer');
    const { page } = await world.newPage({ isFresh: true });
    await page.clock.install();
    await page.goto(world.projectPath('members'));
    const message = (role: string) => page.getByText(`${email} is now ${role}.`);
    for (const role of ['editor', 'viewer', 'editor']) {
      await changeRole(page, email, role);
      await message(role).waitFor();
      await page.clock.fastForward(2000);
    }
    // 6 s after the first message, 2 s after the third.
    await page.evaluate('new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))');
    expect(await message('editor').count()).to.equal(1);
    await page.clock.fastForward(4000);
    await message('editor').waitFor({ state: 'detached' });
  });

  it('shows each new key until its Done', async () => {
    const { page } = await world.newPage();
    await page.goto(world.projectPath('keys'));
    const once = page.getByRole('status', { name: 'The new key' });
    for (const [index, name] of ['first of two', 'second of two'].entries()) {
      await page.getByLabel('Name').fill(name);
      await page.getByRole('button', { name: 'Create key' }).click();
      await once.nth(index).waitFor();
    }
    expect(await once.first().innerText()).to.include('Copy the key second of two now.');
    await once.first().getByRole('button', { name: 'Done' }).click();
    await once.nth(1).waitFor({ state: 'detached' });
    expect(await once.getByRole('region').getAttribute('aria-label')).to.equal('Key first of two');
  });

  it('stops offering a new key once it is revoked, and keeps the focus among the keys, even on a phone', async () => {
    const { page } = await world.newPage({ viewport: PHONE });
    await page.goto(world.projectPath('keys'));
    await page.getByLabel('Name').fill('short-lived');
    await page.getByRole('button', { name: 'Create key' }).click();
    const once = page.getByRole('status', { name: 'The new key' });
    await once.waitFor();
    const revoke = page.getByRole('button', { name: 'Revoke short-lived' });
    await revoke.scrollIntoViewIfNeeded();
    const table = page.getByRole('region', { name: 'Keys' });
    const { x, width } = (await revoke.boundingBox()) ?? { x: 0, width: 0 };
    expect(x + width).to.be.below(PHONE.width);
    expect(await table.evaluate((element) => element.scrollLeft)).to.equal(0);
    await revoke.click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('row', { name: /^short-lived revoked/ }).waitFor();
    await once.waitFor({ state: 'detached' });
    expect(await page.evaluate("document.activeElement.closest('[aria-label=Keys]') !== null")).to.equal(
      true,
    );
  });

  it('returns the focus when a question was answered with no', async () => {
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
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByText('No account has this verified e-mail address.').waitFor();
    await expectAccessible(page);
  });

  it('creates a key with the chosen permissions and agents, and shows who created it', async () => {
    const { page, faults } = await world.newPage();
    await page.goto(world.projectPath('keys'));
    await page.getByLabel('Name').fill('narrow');
    await page.getByLabel(/^read audit/).uncheck();
    await page.getByLabel(/^write events/).uncheck();
    await page.getByText('Choose at least one permission.').waitFor();
    expect(await page.getByRole('button', { name: 'Create key' }).isDisabled()).to.equal(true);
    await page.getByLabel(/^fetch policies/).check();
    await page.getByLabel(/^edit policies/).check();
    await page.getByLabel('Limit to agents').fill('demo-agent\n\n a second, longer name ');
    await page.getByRole('button', { name: 'Create key' }).click();
    const once = page.getByRole('status', { name: 'The new key' });
    const key = (await once.locator('pre').innerText()).trim();
    // The form is unchanged, for the next key.
    expect(await page.getByLabel('Name').inputValue()).to.equal('');
    expect(await page.getByLabel(/^write events/).isChecked()).to.equal(true);

    const { email } = world.service.demo.dashboard ?? {};
    const row = page.getByRole('row', { name: /^narrow/ });
    expect(await row.innerText()).to.include('fetch policies, edit policies');
    expect(await row.innerText()).to.include('limited to demo-agent, a second, longer name');
    expect(await row.innerText()).to.include(email);
    expect(decodeJwt(key)).to.deep.include({
      scope: 'fetch_policy edit_policy',
      agents: ['demo-agent', 'a second, longer name'],
    });
    await expectAccessible(page);
    expect(faults).to.deep.equal([]);
  });

  it('shows all agents that a key is limited to, on demand if there are many', async () => {
    const { page } = await world.newPage();
    const agents = Array.from({ length: 50 }, (_, index) => `${'n'.repeat(197)}-${10 + index}`);
    await page.request.post(`/v1/projects/${world.projectId}/keys`, { data: { name: 'of many', agents } });
    await page.goto(world.projectPath('keys'));
    const row = page.getByRole('row', { name: /^of many/ });
    await row.waitFor();
    const height = (await row.boundingBox())?.height;
    await row.getByText('limited to 50 agents').click();

    expect(height).to.be.below(100);
    expect(await row.getByRole('listitem').allInnerTexts()).to.deep.equal(agents);
    expect(await overflowAt(page, 360)).to.be.at.most(0);
  });

  it('gives a member a role, changes it, and removes the member with their keys', async () => {
    const { service } = world;
    const owner = await demoOwner(world.service);
    const bob = await newVerifiedPerson(service);
    const { page, faults } = await world.newPage();
    await page.goto(world.projectPath('members'));
    await page.getByText('The only owner cannot leave.').waitFor();
    await page.getByLabel('Add member by e-mail').fill(bob.email);
    await page.getByLabel('Role', { exact: true }).selectOption('viewer');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    const select = roleOf(page, bob.email);
    await select.waitFor();
    expect(await select.inputValue()).to.equal('viewer');
    await expectAccessible(page);

    await page.setViewportSize({ width: 360, height: 800 });
    for (const control of [select, page.getByRole('button', { name: `Remove ${bob.email}` })]) {
      await control.scrollIntoViewIfNeeded();
      const { x, y, width, height } = (await control.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
      const atCentre = `document.elementFromPoint(${x + width / 2}, ${y + height / 2})?.ariaLabel`;
      expect(await page.evaluate(atCentre)).to.equal(await control.getAttribute('aria-label'));
    }
    // Chromium changes the value of a closed list at each arrow key.
    await select.press('ArrowDown');
    const dialog = page.getByRole('dialog');
    await dialog.getByText('From viewer to editor, who also saves and checks policies.').waitFor();
    await expectAccessible(page);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    expect(await page.evaluate('document.activeElement.ariaLabel')).to.equal(`Role of ${bob.email}`);
    await page.reload();
    await select.waitFor();
    expect(await select.inputValue()).to.equal('viewer');

    await select.focus();
    await changeRole(page, bob.email, 'admin');
    await page.getByText(`${bob.email} is now admin.`).waitFor();
    await eventually(async () => (await select.inputValue()) === 'admin');
    expect(await page.evaluate('document.activeElement.ariaLabel')).to.equal(`Role of ${bob.email}`);
    const { key } = await issue(service, { cookie: bob.cookie, project: owner.project });
    await page.getByRole('button', { name: `Remove ${bob.email}` }).click();
    await dialog.getByLabel(/Also revoke the keys that this member created/).check();
    await expectAccessible(page);
    await dialog.getByRole('button', { name: 'Remove' }).click();
    await select.waitFor({ state: 'detached' });

    expect(await ingest(service, key)).to.equal(401);
    expect(faults).to.deep.equal([]);
  });

  it('reads the members again if a change is refused because somebody else changed them', async () => {
    const owner = await demoOwner(world.service);
    const { page } = await world.newPage();
    const changes = [
      (email: string) => changeRole(page, email, 'editor'),
      async (email: string) => {
        await page.getByRole('button', { name: `Remove ${email}` }).click();
        await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
      },
    ];
    for (const change of changes) {
      const { email, id } = await newMember(world.service, owner, 'viewer');
      await page.goto(world.projectPath('members'));
      const select = roleOf(page, email);
      await select.waitFor();
      await page.request.delete(`/v1/projects/${world.projectId}/members/${id}`);
      await change(email);
      await select.waitFor({ state: 'detached' });
    }
    const { email } = await newVerifiedPerson(world.service);
    const data = { email, role: 'viewer' };
    await page.reload();
    await page.getByLabel('Add member by e-mail').fill(email);
    await page.request.post(`/v1/projects/${world.projectId}/members`, { data });
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await roleOf(page, email).waitFor();
  });

  it('follows a lost role once the members are read again', async () => {
    const owner = await demoOwner(world.service);
    const admin = await newMember(world.service, owner, 'admin');
    const { email } = await newMember(world.service, owner, 'viewer');
    const { page } = await world.newPage({ isSignedIn: false });
    await page.request.post('/v1/auth/login', { data: { email: admin.email, password: PASSWORD } });
    await page.goto(world.projectPath('members'));
    const select = roleOf(page, email);
    await select.waitFor();
    const path = `/v1/projects/${world.projectId}/members/${admin.id}`;
    const { cookie } = owner;
    expect(
      (await call(world.service, path, { method: 'PUT', cookie, body: { role: 'viewer' } })).status,
    ).to.equal(200);
    await changeRole(page, email, 'editor');
    await page.getByText('You are a viewer.').waitFor();
    expect(await select.count()).to.equal(0);
  });

  it('shows no older members once newer ones have arrived', async () => {
    const { email } = await newMember(world.service, await demoOwner(world.service), 'viewer');
    const { page } = await world.newPage();
    await page.goto(world.projectPath('members'));
    const remove = page.getByRole('button', { name: `Remove ${email}` });
    await remove.waitFor();
    await visit(page, world.projectPath('proof'));
    await page.getByRole('heading', { name: 'Proof', exact: true }).waitFor();
    const older = await holdNext(page, /\/members$/);
    await visit(page, world.projectPath('members'));
    await older.asked;
    await remove.click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await remove.waitFor({ state: 'detached' });
    await older.release();
    expect(await remove.count()).to.equal(0);
    // Shown first when the page is opened again.
    await visit(page, world.projectPath('proof'));
    await page.getByRole('heading', { name: 'Proof', exact: true }).waitFor();
    await holdNext(page, /\/members$/);
    await visit(page, world.projectPath('members'));
    await page.getByRole('button', { name: 'Add', exact: true }).waitFor();
    expect(await remove.count()).to.equal(0);
  });

  it('keeps a question open until its answer is there', async () => {
    const { page } = await world.newPage();
    await page.goto(world.projectPath('keys'));
    await page
      .getByRole('button', { name: /^Revoke/ })
      .first()
      .click();
    const dialog = page.getByRole('dialog');
    const answer = { status: 503, json: { code: 'store_unavailable' } };
    const revocation = await holdNext(page, /\/keys\//, { method: 'DELETE', answer });
    await dialog.getByRole('button', { name: 'Revoke' }).click();
    await revocation.asked;
    for (const key of ['Escape', 'Escape']) await page.keyboard.press(key);
    expect(await dialog.getByRole('button', { name: 'Cancel' }).isDisabled()).to.equal(true);
    await revocation.release();
    await dialog.getByText('Database unavailable').waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
  });

  it('stays where the person went while a project was created', async () => {
    const { page } = await world.newPage();
    await page.goto('/account');
    await page.getByLabel('New project').fill('Slow');
    const creation = await holdNext(page, /\/v1\/projects$/, { method: 'POST' });
    await page.getByRole('button', { name: 'Create' }).click();
    await creation.asked;
    await visit(page, world.projectPath('proof'));
    await page.getByRole('heading', { name: 'Proof', exact: true }).waitFor();
    await creation.release();
    await page.getByRole('button', { name: /^Project/ }).click();
    await page.getByRole('link', { name: 'Slow', exact: true }).waitFor();
    expect(addressOf(page)).to.equal(world.projectPath('proof'));
  });

  it('opens another project by keyboard once it is chosen, and not before', async () => {
    const { page } = await world.newPage({ isSignedIn: false });
    const first = await newProject(page);
    const { id } = await (await page.request.post('/v1/projects', { data: { name: 'Second' } })).json();
    const start = `/projects/${first.id}/alerts`;
    await page.goto(start);
    const switcher = page.locator('.project-switcher').locator('button, select');
    await page.getByRole('heading', { name: 'Alerts' }).waitFor();
    await switcher.press('ArrowDown');
    expect(addressOf(page)).to.equal(start);

    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'Second', exact: true }).waitFor();
    await expectAccessible(page);
    for (const key of ['Tab', 'Tab']) await page.keyboard.press(key);
    expect(await page.evaluate('document.activeElement.textContent')).to.equal('Second');
    expect(addressOf(page)).to.equal(start);
    await page.keyboard.press('Enter');
    await page.waitForURL(`/projects/${id}/alerts`);
    expect(await switcher.getAttribute('aria-expanded')).to.equal('false');
  });

  it('hides from a viewer what only others may do, and says why', async () => {
    const viewer = await newMember(world.service, await demoOwner(world.service), 'viewer');
    const { page, faults } = await world.newPage({ isSignedIn: false });
    await page.request.post('/v1/auth/login', { data: { email: viewer.email, password: PASSWORD } });

    await page.goto(world.projectPath('keys'));
    await page.getByText('Only admins and owners can see and create keys').waitFor();
    await page.getByText('You are a viewer of this project.').waitFor();
    expect(await page.getByRole('button', { name: 'Create key' }).count()).to.equal(0);
    await expectAccessible(page);
    await visit(page, world.projectPath('agents/demo-agent'));
    await page.getByText('Only editors, admins and owners can edit. You are a viewer.').waitFor();
    expect(await page.getByRole('button', { name: 'Save…' }).isDisabled()).to.equal(true);
    await visit(page, world.projectPath('members'));
    await page
      .getByText('Only admins and owners can add, change and remove members. You are a viewer.')
      .waitFor();
    const actions = page.getByRole('region', { name: 'Members' }).getByRole('button');
    expect(await actions.allInnerTexts()).to.deep.equal(['Leave']);
    await expectAccessible(page);

    const calls: string[] = [];
    page.on('request', (request) => calls.push(`${request.method()} ${new URL(request.url()).pathname}`));
    await page.getByRole('button', { name: 'Leave the project' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Leave' }).click();
    await page.waitForURL((url) => !url.pathname.startsWith(world.projectPath('')));
    // Reading the members again would be refused.
    expect(calls.filter((made) => made.endsWith('/members'))).to.deep.equal([]);
    expect(faults).to.deep.equal([]);
  });

  it('shows an admin which members only owners manage', async () => {
    const admin = await newMember(world.service, await demoOwner(world.service), 'admin');
    const { page } = await world.newPage({ isSignedIn: false });
    await page.request.post('/v1/auth/login', { data: { email: admin.email, password: PASSWORD } });
    await page.goto(world.projectPath('members'));
    await page.getByText('Only owners can change this role.').waitFor();
    const offered = await page.getByLabel('Role', { exact: true }).locator('option').allInnerTexts();
    expect(offered).to.deep.equal(['viewer', 'editor']);
  });

  it('counts a key that moved to the latest version once', async () => {
    await savePolicy(world, 'code-reviewer', '\n# moved');
    await pullPolicies(world.service);
    const { page } = await world.newPage();
    await page.goto(world.projectPath('agents/code-reviewer', { tab: 'fleet' }));
    await page.getByText('100% of the keys in use have the latest version').waitFor();
    expect(await page.getByText('outdated').count()).to.equal(1);
    await page.getByText('100% of the keys in use', { exact: true }).waitFor();
  });

  it('sorts its tables by their headings, also by keyboard', async () => {
    const { page, faults } = await world.newPage();
    const owner = await demoOwner(world.service);
    for (const name of ['zebra', 'aardvark']) await issue(world.service, owner, { name });
    for (const role of ['viewer', 'editor']) await newMember(world.service, owner, role);
    await savePolicy(world, 'data-analyst', '\n# sorted');
    await pullPolicies(world.service);
    const tables: [path: string, label: string, heading: string, first: 'ascending' | 'descending'][] = [
      ['keys', 'Keys', 'Name', 'ascending'],
      ['members', 'Members', 'Account', 'ascending'],
      ['agents/data-analyst?tab=fleet', 'Versions in use', 'Version', 'descending'],
      ['agents/data-analyst?tab=definition', 'Tools', 'Tool', 'ascending'],
      ['overview?window=7d&all=tool', 'List of tools', 'Name', 'ascending'],
    ];
    for (const [path, label, heading, first] of tables) {
      await page.goto(world.projectPath(path));
      const table = page.getByRole('region', { name: label, exact: true });
      const names = table.locator('tbody th');
      await names.nth(1).waitFor();
      const given = await names.allInnerTexts();
      const up = given.toSorted();
      for (const direction of first === 'ascending' ? ['ascending', 'descending'] : [first, 'ascending']) {
        await table.getByRole('link', { name: heading, exact: true }).press('Enter');
        await table.locator(`th[aria-sort=${direction}]`, { hasText: heading }).waitFor();
        expect(await names.allInnerTexts(), label).to.deep.equal(
          direction === 'ascending' ? up : up.toReversed(),
        );
      }
      expect(new Set(given).size, label).to.be.above(1);
      await expectAccessible(page, `[aria-label="${label}"]`);
    }
    expect(faults).to.deep.equal([]);
  });

  it('names the zone of the times that it shows, not of now', async () => {
    const initScript = `localStorage.setItem('gatehouse.zone', 'local')`;
    const { page } = await world.newPage({ timezoneId: 'Europe/Berlin', initScript });
    for (const added of ['2026-01-15', '2026-07-15']) {
      await page.route(/v1\/.*\/members$/, async (route) => {
        const { items } = (await (await route.fetch()).json()) as { items: object[] };
        await route.fulfill({
          json: { items: items.map((item) => ({ ...item, added_at: `${added}T12:00:00Z` })) },
        });
      });
      await page.goto(world.projectPath('members'));
      const zone = added.includes('-07-')
        ? /Member since \((GMT\+2|CEST)\)/
        : /Member since \((GMT\+1|CET)\)/;
      await page.getByRole('columnheader', { name: zone }).waitFor();
    }
  });

  it('records what was done', async () => {
    const { page } = await world.newPage();
    await page.goto(world.projectPath('activity'));
    await page.getByText('created a key').first().waitFor();
  });

  it('shows on a phone that a table and the navigation extend beyond the edge', async () => {
    const { page } = await world.newPage({ viewport: { width: 390, height: 800 } });
    await page.goto(world.projectPath('activity'));
    const table = page.getByRole('region', { name: 'Activity' });
    await table.getByRole('row').nth(1).waitFor();
    // Without the text, the strip at the edge shows only the cue.
    await page.evaluate(`document.querySelectorAll('[aria-label=Activity] table, .nav a').forEach(
      (element) => (element.style.visibility = 'hidden'))`);
    for (const part of [table, page.getByRole('navigation', { name: 'Project' })]) {
      const { x, y, width, height } = (await part.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
      const clip = { x: x + width - 14, y, width: 14, height: Math.min(height, 100) };
      const edgeAt = async (left: string) => {
        await part.evaluate((element, to) => (element.scrollLeft = to === 'end' ? 9999 : 0), left);
        return (await page.screenshot({ clip })).toString('base64');
      };
      const before = await edgeAt('start');
      const atEnd = await edgeAt('end');

      expect(await part.evaluate((element) => element.scrollWidth > element.clientWidth)).to.equal(true);
      expect(before).not.to.equal(atEnd);
    }
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

const roleOf = (page: Page, email: string) => page.getByLabel(`Role of ${email}`, { exact: true });

async function changeRole(page: Page, email: string, role: string): Promise<void> {
  await roleOf(page, email).selectOption(role);
  await page.getByRole('dialog').getByRole('button', { name: 'Change role' }).click();
}
