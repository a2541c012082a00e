import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { send, times, watchOf } from '../support/alerts.ts';
import { createServiceClock } from '../support/clock.ts';
import { decisionEvent } from '../support/events.ts';
import { eventually } from '../support/eventually.ts';
import { holdNext } from './support/hold.ts';
import { shoot } from './support/shoot.ts';
import { expectAccessible, useWorld, visit } from './support/world.ts';
import { HOUR_MS, MINUTE_MS } from '../../server/durations.ts';

describe('Alerts in a browser', function () {
  const clock = createServiceClock();
  const { passMs, at } = watchOf(clock);
  const world = useWorld(this, { env: clock.env });

  it('a rule is switched with one press, alerts are muted, and a webhook shows its secret once', async () => {
    const { page, faults } = await world.newPage();
    await page.goto(world.projectPath('alerts'));
    await page.getByRole('switch', { name: 'Denials far above usual', disabled: false }).press('Space');
    await page.getByRole('button', { name: 'Mute for 24 hours' }).click();
    await page.getByText('Muted until').waitFor();
    await page.getByText('This service has no e-mail provider').waitFor();
    await page.getByLabel('Address').fill('https://hooks.example.com/gatehouse');
    await page.getByRole('button', { name: 'Set webhook' }).click();
    const secret = await page.getByRole('region', { name: 'Signing secret' }).innerText();
    await expectAccessible(page);
    await shoot(page, 'alerts-webhook');
    await page.reload();
    const address = await page.getByText('https://hooks.example.com/gatehouse').boundingBox();
    const remove = await page.getByRole('button', { name: 'Remove webhook' }).boundingBox();
    const [isOn, others, shown] = [
      await page.getByRole('switch', { name: 'Denials far above usual' }).isChecked(),
      await page.getByRole('switch', { checked: true }).count(),
      await page.locator('body').innerText(),
    ];
    await page.getByRole('button', { name: 'Unmute' }).click();
    await page.getByRole('button', { name: 'Mute for 1 hour' }).waitFor();
    await page.getByRole('button', { name: 'Remove webhook' }).click();
    await page.getByRole('button', { name: 'Remove', exact: true }).click();
    await page.getByRole('button', { name: 'Set webhook' }).waitFor();
    // Off again, for the suites that share this project.
    const saved = page.waitForResponse(/alerts\/settings/);
    await page.getByRole('switch', { name: 'Denials far above usual' }).click();
    await saved;

    expect((remove?.y ?? 0) - (address?.y ?? 0) - (address?.height ?? 0)).to.be.at.least(8);
    expect(secret).to.match(/^whsec_/);
    expect([isOn, others]).to.deep.equal([true, 1]);
    expect(shown).not.to.contain('whsec_');
    expect(faults).to.deep.equal([]);
  });

  it('rules switched at the same time all get the chosen state', async () => {
    const { page } = await world.newPage();
    const path = `/v1/projects/${world.projectId}/alerts/settings`;
    const rules = async () => ((await (await page.request.get(path)).json()) as { rules: object }).rules;
    await page.request.put(path, { data: { rules: { denials: false, new_names: false, silence: false } } });
    await page.goto(world.projectPath('alerts'));
    await page.getByRole('switch', { disabled: false }).nth(2).waitFor();
    await page.evaluate(`document.querySelectorAll('[role=switch]').forEach((rule) => rule.click())`);
    await eventually(async () => Object.values(await rules()).every((isOn) => isOn === true));
    // Off again, for the suites that share this project.
    await page.request.put(path, { data: { rules: { denials: false, new_names: false, silence: false } } });
  });

  it('hides a secret once somebody else has set another webhook', async () => {
    const { page } = await world.newPage();
    const webhook = `/v1/projects/${world.projectId}/alerts/webhook`;
    await page.goto(world.projectPath('alerts'));
    await page.getByLabel('Address').fill('https://hooks.example.com/mine');
    await page.getByRole('button', { name: 'Set webhook' }).click();
    const secret = page.getByRole('region', { name: 'Signing secret' });
    await secret.waitFor();
    await page.request.put(webhook, { data: { url: 'https://hooks.example.com/theirs' } });
    // The settings are read again.
    await page.getByRole('button', { name: 'Mute for 1 hour' }).click();
    await page.getByText('https://hooks.example.com/theirs').waitFor();
    const shown = await secret.count();
    await page.request.delete(webhook);
    await page.getByRole('button', { name: 'Unmute' }).click();
    await page.getByRole('button', { name: 'Mute for 1 hour' }).waitFor();

    expect(shown).to.equal(0);
  });

  it('keeps a new secret for a person who has left the page while it was created', async () => {
    const { page } = await world.newPage();
    await page.goto(world.projectPath('alerts'));
    await page.getByLabel('Address').fill('https://hooks.example.com/left');
    const creation = await holdNext(page, /\/webhook$/, { method: 'PUT' });
    await page.getByRole('button', { name: 'Set webhook' }).click();
    await creation.asked;
    await visit(page, world.projectPath('proof'));
    await page.getByRole('heading', { name: 'Proof', exact: true }).waitFor();
    await creation.release();
    await page.getByText('The new signing secret waits on the page Alerts.').waitFor();
    await visit(page, world.projectPath('alerts'));
    await page.getByRole('region', { name: 'Signing secret' }).waitFor();
    await page.request.delete(`/v1/projects/${world.projectId}/alerts/webhook`);
  });

  it('leads the keyboard from the address of a webhook to its secret', async () => {
    const { page } = await world.newPage();
    await page.goto(world.projectPath('alerts'));
    const address = page.getByLabel('Address');
    await address.fill('https://hooks.example.com/keyboard');
    await address.press('Enter');
    await page.getByRole('region', { name: 'Signing secret' }).waitFor();
    await address.waitFor({ state: 'detached' });
    const focused = await page.locator(':focus').innerText();
    await page.request.delete(`/v1/projects/${world.projectId}/alerts/webhook`);

    expect(focused).to.equal('Copy');
  });

  it('keeps the focus where a pressed button was replaced', async () => {
    const { page } = await world.newPage();
    await page.goto(world.projectPath('alerts'));
    const press = async (name: string, next: string) => {
      await page.getByRole('button', { name }).press('Enter');
      await page.getByRole('button', { name: next }).waitFor();
      return page.evaluate<string>('document.activeElement.textContent');
    };
    const unmute = await press('Mute for 24 hours', 'Unmute');
    const mute = await press('Unmute', 'Mute for 1 hour');
    await page.getByLabel('Address').fill('https://hooks.example.com/focus');
    await press('Set webhook', 'Done');
    // The secret is there before the settings are read again.
    await page.getByText('Alerts are posted to').waitFor();
    const remove = await press('Done', 'Remove webhook');
    await page.request.delete(`/v1/projects/${world.projectId}/alerts/webhook`);

    expect([unmute, mute, remove]).to.deep.equal(['Unmute', 'Mute for 1 hour', 'Remove webhook']);
  });

  it('blames nobody else for a mute that was set on the same page', async () => {
    const { page } = await world.newPage();
    await page.goto(world.projectPath('alerts'));
    const set = await holdNext(page, /\/settings$/, { method: 'PUT' });
    await page.getByRole('button', { name: 'Mute for 1 hour' }).click();
    await set.asked;
    const read = await holdNext(page, /\/settings$/);
    await set.release();
    await read.asked;
    await page.getByRole('button', { name: 'Mute for 24 hours' }).click();
    await page.getByText('The alerts were muted in the meantime.').waitFor();
    await read.release();
    await page.getByRole('button', { name: 'Unmute' }).click();
    await page.getByRole('button', { name: 'Mute for 1 hour' }).waitFor();
  });

  it('a webhook or a mute that somebody else has just set stays', async () => {
    const { page } = await world.newPage();
    const path = `/v1/projects/${world.projectId}/alerts`;
    const settings = async () => (await (await page.request.get(`${path}/settings`)).json()) as Settings;
    type Settings = { webhook: { url: string } | null; muted_until: string | null };
    await page.goto(world.projectPath('alerts'));
    await page.getByLabel('Address').fill('https://hooks.example.com/mine');
    await page.request.put(`${path}/webhook`, { data: { url: 'https://hooks.example.com/theirs' } });
    await page.getByRole('button', { name: 'Set webhook' }).click();
    await page.getByText('A webhook was set in the meantime.').waitFor();
    await page.getByText('https://hooks.example.com/theirs').waitFor();
    const muted_until = at(24 * HOUR_MS);
    await page.request.put(`${path}/settings`, { data: { muted_until } });
    await page.getByRole('button', { name: 'Mute for 1 hour' }).click();
    await page.getByText('The alerts were muted in the meantime.').waitFor();
    await page.getByRole('button', { name: 'Unmute' }).waitFor();
    const held = await settings();
    await page.request.delete(`${path}/webhook`);
    await page.request.put(`${path}/settings`, { data: { muted_until: null } });

    expect(held).to.deep.include({ muted_until, webhook: { url: 'https://hooks.example.com/theirs' } });
  });

  it('the history is read again, with its older pages', async () => {
    const { page } = await world.newPage({ isFresh: true });
    await page.clock.install();
    const alertOf = (agent_name: string, index: number) => ({
      id: randomUUID(),
      fired_at: at(-index * MINUTE_MS),
      rule: 'new_names',
      agent_name,
      tool_name: null,
      from: at(-HOUR_MS),
      to: at(0),
      total: 1,
      denied: 0,
      usual: { total: 0, denied: 0 },
      state: 'pending',
    });
    const alerts = Array.from({ length: 60 }, (_, index) => alertOf(`agent-${index}`, index));
    await page.route(/\/alerts\?/, (route) => {
      const cursor = new URL(route.request().url()).searchParams.get('cursor');
      const from = alerts.findIndex(({ id }) => id === cursor) + 1;
      const items = alerts.slice(from, from + 50);
      const next_cursor = from + 50 < alerts.length ? items.at(-1)?.id : null;
      return route.fulfill({ json: { project_id: world.projectId, items, limit: 50, next_cursor } });
    });
    await page.goto(world.projectPath('alerts'));
    await page.getByRole('button', { name: 'Load older' }).click();
    const rows = page.getByRole('region', { name: 'History' }).locator('tbody tr');
    await rows.nth(59).waitFor();
    for (const alert of alerts) alert.state = 'sent';
    alerts.unshift({ ...alertOf('agent-new', 0), state: 'sent' });
    await page.clock.fastForward('01:05');
    await rows.nth(60).waitFor();

    const texts = await rows.allInnerTexts();
    expect(texts.map((row) => /agent-\w+/.exec(row)?.[0])).to.deep.equal(
      alerts.map(({ agent_name }) => agent_name),
    );
    expect(texts.filter((row) => !row.includes('Sent'))).to.deep.equal([]);
  });

  it('says that the page failed if the role of the person cannot be read', async () => {
    const { page } = await world.newPage();
    await page.route(/\/members$/, (route) => route.fulfill({ status: 500, json: { code: 'internal' } }));
    await page.goto(world.projectPath('alerts'));
    await page.getByText('Unexpected server error').waitFor();
    await page.unroute(/\/members$/);
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('button', { name: 'Set webhook' }).waitFor();
  });

  it('reports an invalid webhook address once', async () => {
    const { page } = await world.newPage();
    await page.goto(world.projectPath('alerts'));
    await page.getByLabel('Address').fill('gopher://hooks.example.com');
    await page.getByRole('button', { name: 'Set webhook' }).click();

    const fault = await page.getByRole('alert').innerText();
    expect(fault.match(/must/g), fault).to.have.length(1);
  });

  it('alerts of the service say what happened and lead to their decisions', async () => {
    const { page, faults } = await world.newPage();
    const path = `/v1/projects/${world.projectId}/alerts`;
    await page.request.put(`${path}/settings`, { data: { rules: { denials: true, new_names: true } } });
    const of = { agent_name: 'support-triage', tool_name: 'reply_draft', occurred_at: at(-1000) };
    await send(world.service, world.service.key, [
      ...times(30, () => decisionEvent({ ...of, outcome: 'deny' })),
      decisionEvent({ ...of, tool_name: 'wire_money' }),
    ]);
    passMs(MINUTE_MS);
    await eventually(async () => {
      const answer = await page.request.get(path);
      const { items } = (await answer.json()) as { items: { state: string }[] };
      return items.length === 2 && items.every(({ state }) => state === 'sent');
    });
    await page.goto(world.projectPath('alerts'));
    await page.getByText('support-triage called the tool wire_money for the first time').waitFor();
    const spike = page.getByRole('row', { name: /calls of support-triage .*were denied/ });
    const told = await spike.innerText();
    await expectAccessible(page);
    await shoot(page, 'alerts');
    await spike.getByRole('link', { name: 'View decisions' }).click();
    await page.getByRole('heading', { name: 'Decisions' }).waitFor();
    const denied = Number(/(\d+) of \d+ calls/.exec(told)?.[1]);
    await page.getByText('support-triage').first().waitFor();
    const { search, searchParams } = new URL(page.url());
    const reads = await page.request.get(`/v1/projects/${world.projectId}/audit/decisions${search}`);

    const query = Object.fromEntries(searchParams);
    expect(denied).to.be.at.least(30);
    expect((await reads.json()) as object).to.include({ total: denied });
    expect(told).to.match(/Denials far above usual.*were denied in \d minutes?, usually [\d.]+ %.*Sent/s);
    expect(query).to.deep.include({ agent: 'support-triage', outcome: 'deny' });
    const occurredMs = Date.parse(of.occurred_at);
    expect(occurredMs).to.be.within(Date.parse(query['from'] ?? ''), Date.parse(query['to'] ?? ''));
    expect(faults).to.deep.equal([]);
  });

  it('the activity distinguishes a mute from its end', async () => {
    const { page } = await world.newPage();
    await page.goto(world.projectPath('alerts'));
    await page.getByRole('button', { name: 'Mute for 1 hour' }).click();
    await page.getByRole('button', { name: 'Unmute' }).click();
    await page.getByRole('button', { name: 'Mute for 1 hour' }).waitFor();
    await page.getByRole('link', { name: 'Activity' }).click();
    const changes = page.getByRole('row', { name: 'changed the alerts' });
    await changes.first().waitFor();
    const [unmuted, muted] = await changes.allInnerTexts();

    expect(unmuted).to.include('unmuted');
    expect(muted).to.include('muted until 2');
  });

  it('a mute says until when, in which zone, and is gone once it is over', async () => {
    const { page } = await world.newPage({ isFresh: true });
    await page.clock.install();
    await page.goto(world.projectPath('alerts'));
    await page.getByRole('button', { name: 'Mute for 1 hour' }).click();
    const mute = await page.getByText('Muted until').innerText();
    passMs(HOUR_MS + MINUTE_MS);
    await page.clock.fastForward('01:05');
    await page.getByRole('button', { name: 'Mute for 1 hour' }).waitFor();

    expect(mute).to.match(/:\d\d UTC$/);
  });
});
