import { mkdirSync } from 'node:fs';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { decisionEvent, post } from '../support/events.ts';
import { logText, proofOf } from '../support/log.ts';
import { useWorld } from './support/world.ts';

const SHOTS = process.env['GATE_TEST_SHOTS'];

describe('Proof in a browser', function () {
  const world = useWorld(this);

  /** Sends a decision of its own, and opens its drawer. */
  async function openDecision(page: Page): Promise<string> {
    const tool_name = `tool-${Math.random()}`;
    const event = decisionEvent({ tool_name, arguments: { path: '/a/"b"\\é', big: 1e21 } });
    await post(`${world.service.url}/v1/audit/decisions`, event, { key: world.service.key });
    await page.goto(world.projectPath('decisions', { tool: tool_name }));
    await page.locator('.decision-row').first().click();
    return String(event['event_id']);
  }

  const verify = (page: Page) => page.getByRole('button', { name: 'Verify in this browser' }).click();

  it('a decision is proven in its drawer, first of all pending, in light and dark', async () => {
    for (const scheme of ['light', 'dark'] as const) {
      const { page, faults } = await world.newPage({ scheme });
      await page.route(
        /\/proof$/,
        (route) => route.fulfill({ status: 409, json: { code: 'proof_pending', detail: 'not yet' } }),
        { times: 1 },
      );
      const eventId = await openDecision(page);
      await proofOf(world.service, eventId);
      await verify(page);
      await page.getByText('Pending: it enters the log within seconds.').waitFor();
      await page.getByText('Proven', { exact: true }).waitFor();

      const checks = await page.locator('.proof-checks li').allInnerTexts();
      expect(checks).to.have.length(4);
      expect(checks.join()).to.not.include('Does not hold');
      expect(faults.filter((fault) => !fault.includes('409'))).to.deep.equal([]);
      await shoot(page, `drawer-${scheme}`);
    }
  });

  it('an altered record, a forged line and another key are not proven', async () => {
    const changes: [(proof: Record<string, string>) => object, number[]][] = [
      [(proof) => ({ ...proof, line: proof['line']?.replace('"allow"', '"deny"') }), [0, 1]],
      [(proof) => ({ ...proof, salt: Buffer.alloc(16).toString('base64') }), [1]],
      [(proof) => ({ ...proof, index: 0, inclusion: [] }), [2]],
    ];
    for (const [change, failing] of changes) {
      const { page } = await world.newPage();
      await page.route(/\/proof$/, async (route) => {
        const response = await route.fetch();
        await route.fulfill({ json: change((await response.json()) as Record<string, string>) });
      });
      await proofOf(world.service, await openDecision(page));
      await verify(page);
      await page.getByText('Not proven', { exact: true }).waitFor();

      const checks = await page.locator('.proof-checks li').allInnerTexts();
      const failed = checks.flatMap((text, at) => (text.includes('Does not hold') ? [at] : []));
      expect(failed).to.deep.equal(failing);
    }
    const other = (await logText(world.service, 'vkey')).trimEnd();
    const { page } = await world.newPage();
    await page.addInitScript(
      ([name, key]) => localStorage.setItem(name as string, key as string),
      [
        `gatehouse.log-key.${world.service.project_id}`,
        other.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A')),
      ],
    );
    await proofOf(world.service, await openDecision(page));
    await verify(page);
    await page.getByText('Not proven', { exact: true }).waitFor();
  });

  it('the page for auditors has checkpoint, key and commands', async () => {
    for (const scheme of ['light', 'dark'] as const) {
      const { page, faults } = await world.newPage({ scheme });
      await page.goto(world.projectPath('proof'));
      await page.getByRole('heading', { name: 'Verify it yourself' }).waitFor();

      const text = await page.locator('main').innerText();
      expect(text).to.include((await logText(world.service, 'vkey')).trimEnd());
      expect(text).to.include(`gatehouse/${world.service.project_id}\n`);
      expect(text).to.include(`npm run gate -- audit verify --project ${world.service.project_id} --url`);
      expect(faults).to.deep.equal([]);
      await shoot(page, `page-${scheme}`);
    }
  });

  async function shoot(page: Page, name: string): Promise<void> {
    if (SHOTS === undefined) return;
    mkdirSync(SHOTS, { recursive: true });
    await page.screenshot({ path: `${SHOTS}/${name}.png` });
  }
});
