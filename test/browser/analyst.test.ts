import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { askJson } from '../support/reads.ts';
import { addressOf, expectAccessible, type World, useWorld } from './support/world.ts';

type Counts = { total: number; deny: number };
type Versions = { name: string; version: number }[];
type Series = { bucket_seconds: number; buckets: (Counts & { start: string })[] };
type Peak = { index: number; of: number; from: string; to: string; agent: string; reason: string };

describe('the question why denials rose, asked of the demo fleet in a browser', function () {
  const world = useWorld(this, { hasDemoFleet: true });
  let peak: Peak;
  before('the spell of denials', async () => {
    peak = await peakOf(world);
  });

  it('is answered with four clicks: the period, the peak, a record, the line of the policy', async () => {
    const { page, faults } = await world.newPage();
    await page.goto(world.projectPath('overview'));
    await page.getByRole('link', { name: '7d', exact: true }).click();
    const plot = page.getByRole('region', { name: 'Denial rate' }).locator('.chart-plot');
    await weekIsShown(page);
    const { width = 0, height = 0 } = (await plot.boundingBox()) ?? {};
    await plot.click({ position: { x: ((peak.index + 0.8) / peak.of) * width, y: height / 2 } });
    await page.waitForURL(/outcome=deny/);
    expect(new URL(page.url()).searchParams.get('from')).to.equal(peak.from);
    await page.locator('.decision-row').filter({ hasText: peak.agent }).first().click();
    await expectPolicyLine(page);
    await page.getByRole('link', { name: /^version 2, line/ }).click();
    await expectLineSelected(page);
    expect(faults).to.deep.equal([]);
  });

  it('is answered by keyboard, with four times Enter', async () => {
    const { page, faults } = await world.newPage();
    await page.goto(world.projectPath('overview'));
    await page.getByText('Denial rate').nth(1).waitFor();
    await tabTo(page, /^7d$/);
    await page.keyboard.press('Enter');
    await weekIsShown(page);
    await tabTo(page, /^Denial rate: /);
    for (let at = peak.of - 1; at > peak.index; at -= 1) await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('Enter');
    await page.locator('.decision-row').first().waitFor();
    await tabTo(page, /^Decisions\. Use the arrow keys/);
    const rows = await page.locator('.decision-row').allTextContents();
    for (let row = 0; row <= rows.findIndex((text) => text.includes(peak.agent)); row += 1)
      await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await expectPolicyLine(page);
    await tabTo(page, /^version 2, line/);
    await page.keyboard.press('Enter');
    await expectLineSelected(page);
    expect(faults).to.deep.equal([]);
  });

  it('keeps the period, the filters and the record in the address', async () => {
    const { page } = await world.newPage();
    await page.goto(world.projectPath('decisions', { from: peak.from, to: peak.to, outcome: 'deny' }));
    await page.locator('.decision-row').filter({ hasText: peak.agent }).first().click();
    await page.waitForURL(/\/decisions\/[0-9a-f-]{36}\?/);
    const query = new URL(page.url()).searchParams;
    expect([query.get('from'), query.get('to'), query.get('outcome')]).to.deep.equal([
      peak.from,
      peak.to,
      'deny',
    ]);
    await expectAccessible(page, '.drawer');
    await page.getByRole('button', { name: 'Older' }).click();
    const next = addressOf(page);
    await page.getByRole('button', { name: 'Newer' }).click();
    await page.getByRole('button', { name: 'Close' }).click();
    expect(next).not.to.equal(addressOf(page));
    expect(addressOf(page)).to.match(/\/decisions\?/);
  });

  it('concerns decisions of the fleet policies: a replay of each shows no difference', async () => {
    const { page } = await world.newPage();
    const agents = `/v1/projects/${world.projectId}/agents`;
    const { items } = (await (await page.request.get(agents)).json()) as { items: Versions };
    expect(items.length).to.be.above(5);
    for (const { name, version } of items) {
      const saved = await page.request.get(`${agents}/${name}/versions/${version}`);
      const { policy_yaml } = (await saved.json()) as { policy_yaml: string };
      const data = { policy_yaml, replay: { window: '7d', limit: 2000 } };
      const checked = await page.request.post(`${agents}/${name}/check`, { data });
      const { replay } = (await checked.json()) as { replay: { examined: number } };
      expect(replay.examined, name).to.be.above(100);
      expect(replay, name).to.deep.include({
        not_replayable: 0,
        changed: 0,
        current: { version, changed: 0, changes: [] },
      });
    }
  });

  async function expectPolicyLine(page: Page): Promise<void> {
    const drawer = page.getByRole('complementary', { name: 'Decision' });
    await drawer.getByText(peak.reason).first().waitFor();
    await drawer.getByText(/allow: \[/).waitFor();
  }
});

/** The bucket of the last week with the highest share of denials, who was denied most often in it, and why. */
async function peakOf({ service, projectId }: World): Promise<Peak> {
  const ask = <T>(endpoint: 'timeseries' | 'breakdown', query: Record<string, string>) =>
    askJson<T>(service, endpoint, { projectId, query });
  const { buckets, bucket_seconds } = await ask<Series>('timeseries', { window: '7d' });
  const rates = buckets.map(({ deny, total }) => (total < 20 ? 0 : deny / total));
  const index = rates.indexOf(Math.max(...rates));
  const fromMs = Date.parse(buckets[index]?.start ?? '');
  const instant = (ms: number) => new Date(ms).toISOString().replace('.000', '');
  const range = { from: instant(fromMs), to: instant(fromMs + bucket_seconds * 1000) };
  const topOf = async (by: string, query: Record<string, string>) => {
    const answer = await ask<{ items: { value: string }[] }>('breakdown', {
      by,
      outcome: 'deny',
      ...range,
      ...query,
    });
    return answer.items[0]?.value ?? '';
  };
  const agent = await topOf('agent', {});
  return { index, of: buckets.length, ...range, agent, reason: await topOf('reason', { agent }) };
}

/** The chart of the rate has the buckets of a week: its last one is six hours long. */
async function weekIsShown(page: Page): Promise<void> {
  const last = /^Denial rate: .*(00:00–06:00|06:00–12:00|12:00–18:00|18:00–00:00)/;
  await page.getByRole('link', { name: last }).waitFor();
}

/** Presses Tab until the element with this name has the focus. */
async function tabTo(page: Page, name: RegExp): Promise<void> {
  for (let presses = 0; presses < 120; presses += 1) {
    await page.keyboard.press('Tab');
    const focused = await page.evaluate<string>(
      '(({ ariaLabel, textContent }) => (ariaLabel ?? textContent).trim())(document.activeElement)',
    );
    if (name.test(focused)) return;
  }
  throw new Error(`Tab does not reach ${String(name)}`);
}

/** The policy is shown with the line selected, from which the keyboard can continue. */
async function expectLineSelected(page: Page): Promise<void> {
  await page.waitForURL(/tab=versions.*line=\d+/);
  await page.locator('.cm-selectionBackground').first().waitFor({ state: 'attached' });
  expect(await page.evaluate('document.activeElement.shadowRoot?.activeElement?.className')).to.include(
    'cm-content',
  );
}
