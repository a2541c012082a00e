import { expect } from 'chai';
import { shoot } from './support/shoot.ts';
import { expectAccessible, useWorld } from './support/world.ts';

const ALERT = {
  id: '00000000-0000-8000-8000-000000000001',
  fired_at: '2026-06-10T12:30:00.000Z',
  rule: 'denials',
  agent_name: 'clerk',
  tool_name: 'pay',
  from: '2026-06-10T12:25:00.000Z',
  to: '2026-06-10T12:30:00.000Z',
  total: 40,
  denied: 30,
  usual: { total: 10_000, denied: 30 },
  state: 'sent',
};

describe('Alerts in a browser', function () {
  const world = useWorld(this);

  it('a rule is switched with one press, alerts are muted, and a webhook shows its secret once', async () => {
    const { page, faults } = await world.newPage();
    await page.goto(world.projectPath('alerts'));
    await page.getByRole('switch', { name: 'Denials far above usual', disabled: false }).press('Space');
    await page.getByRole('button', { name: 'Mute for 24 hours' }).click();
    await page.getByText('Muted until').waitFor();
    await page.getByLabel('Address').fill('https://hooks.example.com/gatehouse');
    await page.getByRole('button', { name: 'Set webhook' }).click();
    const secret = await page.getByRole('region', { name: 'Signing secret' }).innerText();
    await expectAccessible(page);
    await shoot(page, 'alerts-webhook');
    await page.reload();
    await page.getByText('https://hooks.example.com/gatehouse').waitFor();
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
    await page.getByRole('switch', { name: 'Denials far above usual' }).click();

    expect(secret).to.match(/^whsec_/);
    expect([isOn, others]).to.deep.equal([true, 1]);
    expect(shown).not.to.contain('whsec_');
    expect(faults).to.deep.equal([]);
  });

  it('an alert says what happened and leads to its decisions, in light and dark', async () => {
    for (const scheme of ['light', 'dark'] as const) {
      const { page, faults } = await world.newPage({ scheme });
      const body = { project_id: world.service.project_id, items: [ALERT], limit: 50, next_cursor: null };
      await page.route(/\/alerts\?/, (route) => route.fulfill({ json: body }));
      await page.goto(world.projectPath('alerts'));
      await page
        .getByText('30 of 40 calls of clerk with pay were denied in 5 minutes, usually 0.30 %')
        .waitFor();
      await expectAccessible(page);
      await shoot(page, `alerts-${scheme}`);
      await page.getByRole('link', { name: 'View decisions' }).click();
      await page.getByRole('heading', { name: 'Decisions' }).waitFor();

      const query = Object.fromEntries(new URL(page.url()).searchParams);
      expect(query).to.deep.include({ agent: 'clerk', tool: 'pay', outcome: 'deny' });
      expect([Date.parse(query['from'] ?? ''), Date.parse(query['to'] ?? '')]).to.deep.equal(
        [ALERT.from, ALERT.to].map((time) => Date.parse(time)),
      );
      expect(faults).to.deep.equal([]);
    }
  });
});
