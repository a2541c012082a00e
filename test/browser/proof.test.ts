import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { verifierKeyText } from '../../client/proof/index.ts';
import { sendDecision } from '../support/audit.ts';
import { decisionEvent } from '../support/events.ts';
import { checkpointFrom, logText, proofOf } from '../support/log.ts';
import { startWitness } from '../support/witness.ts';

import { holdNext } from './support/hold.ts';
import { shoot } from './support/shoot.ts';
import { expectAccessible, useWorld } from './support/world.ts';

describe('Proof in a browser', function () {
  const world = useWorld(this);

  /** Sends a separate decision, and opens its drawer. */
  async function openDecision(page: Page): Promise<string> {
    const tool_name = `tool-${Math.random()}`;
    const event = decisionEvent({ tool_name, arguments: { path: '/a/"b"\\é', big: 1e21 } });
    await sendDecision(world.service, event);
    await page.goto(world.projectPath('decisions', { tool: tool_name }));
    await page.locator('.decision-row').first().click();
    return String(event['event_id']);
  }

  const verify = (page: Page) => page.getByRole('button', { name: 'Verify in this browser' }).click();

  it('a decision is proven in its drawer, and pending at first', async () => {
    const { page, faults } = await world.newPage();
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
    await shoot(page, 'proof-drawer');
    await expectAccessible(page, '.drawer');
  });

  it('an altered record, a forged line and another key are not proven', async () => {
    const changes: [(proof: Record<string, string>) => object, number[]][] = [
      [(proof) => ({ ...proof, line: proof['line']?.replace('"allow"', '"deny"') }), [0, 1]],
      [(proof) => ({ ...proof, salt: Buffer.alloc(16).toString('base64') }), [1]],
      [(proof) => ({ ...proof, index: 0, inclusion: [] }), [2]],
    ];
    const { page } = await world.newPage();
    for (const [change, failing] of changes) {
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
      await page.unroute(/\/proof$/);
    }
    const other = (await logText(world.service, 'vkey')).trimEnd();
    await page.evaluate(
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

  it('the page for auditors has checkpoint, key, witnesses and commands', async () => {
    const witnesses = await someWitnesses();
    const { page, faults } = await world.newPage();
    await page.route(/\/log\/witnesses$/, (route) => route.fulfill({ json: { items: witnesses } }));
    await page.goto(world.projectPath('proof'));
    await page.getByRole('heading', { name: 'Verify it yourself' }).waitFor();

    const text = await page.locator('main').innerText();
    expect(text).to.include((await logText(world.service, 'vkey')).trimEnd());
    expect(text).to.include(`gatehouse/${world.service.project_id}\n`);
    expect(text).to.include(`npm run gate -- audit verify --project ${world.service.project_id} --url`);
    const rows = await page.getByRole('region', { name: 'Witnesses' }).locator('tbody tr').allInnerTexts();
    expect(rows[0]).to.match(/^witness\.example\/honest\s+(signed the current log|holds; )[^]*\d\d \w{3} /);
    expect(rows[1]).to.include('has signed nothing yet');
    expect(rows[2]).to.include('Its signature does not hold');
    expect(rows[3]).to.include('It signed more entries than the log has now');
    await expectAccessible(page);
    expect(faults).to.deep.equal([]);
    await shoot(page, 'proof-page');
  });

  it('the page for auditors remembers checkpoints, and says when the log does not extend them', async () => {
    const { page, faults } = await world.newPage();
    const rows = page.getByRole('region', { name: 'Checkpoints' }).locator('tbody tr');
    await page.goto(world.projectPath('proof'));
    await rows.getByText('first one seen').waitFor();
    const { size } = await checkpointFrom(world.service, 1);
    await sendDecision(world.service, decisionEvent());
    await checkpointFrom(world.service, size + 1);
    await page.reload();
    await rows.getByText('extends the one before').waitFor();
    expect(await rows.count()).to.equal(2);
    await shoot(page, 'proof-extended');

    // Another history: the first checkpoint seen had another root.
    const [name = '', kept = ''] = await page.evaluate<string[]>(
      `Object.entries(localStorage).find(([name]) => name.startsWith('gatehouse.checkpoints.'))`,
    );
    const [first, ...others] = JSON.parse(kept) as { checkpoint: string }[];
    const lines = first?.checkpoint.split('\n') ?? [];
    const forged = lines.with(2, Buffer.alloc(32, 1).toString('base64')).join('\n');
    const seen = JSON.stringify([{ ...first, checkpoint: forged }, ...others]);
    await page.evaluate(([key, value]) => localStorage.setItem(key as string, value as string), [name, seen]);
    for (const visit of ['once', 'again']) {
      await page.reload();
      await page.getByRole('alert').getByText('History was rewritten').waitFor();
      expect(await rows.last().innerText(), visit).to.include('not part of the current log');
    }
    await expectAccessible(page);
    await shoot(page, 'proof-rewritten');
    await page.setViewportSize({ width: 390, height: 800 });
    await shoot(page, 'proof-rewritten-phone');
    expect(faults).to.deep.equal([]);
  });

  it('a checkpoint that another tab saw in the meantime is of the same history', async () => {
    const { page } = await world.newPage();
    const done = (on: Page) => on.getByRole('heading', { name: 'Verify it yourself' }).waitFor();
    const grow = async () => {
      const { size } = await checkpointFrom(world.service, 1);
      await sendDecision(world.service, decisionEvent());
      await checkpointFrom(world.service, size + 1);
    };
    const seeInOtherTab = async () => {
      await grow();
      const other = await page.context().newPage();
      await other.goto(world.projectPath('proof'));
      await done(other);
      await other.close();
    };
    const witnesses = await holdNext(page, /\/log\/witnesses$/);
    await page.goto(world.projectPath('proof'));
    await witnesses.asked;
    await seeInOtherTab();
    await witnesses.release();
    await done(page);
    expect(await page.getByRole('alert').allInnerTexts()).to.deep.equal([]);

    // Both tabs remember what they saw.
    await grow();
    const tile = await holdNext(page, /\/log\/tile\//);
    await page.reload();
    await tile.asked;
    await seeInOtherTab();
    await tile.release();
    await done(page);
    const kept = `JSON.parse(Object.entries(localStorage).find(([name]) => name.includes('.checkpoints.'))[1])`;
    expect(await page.evaluate(`${kept}.length`)).to.equal(3);
  });

  /** The service's answers for a witness that signed, one that did not, one that lies, and one that saw a larger log. */
  async function someWitnesses() {
    const witness = await startWitness('witness.example/honest');
    witness.trust(await logText(world.service, 'vkey'));
    const checkpoint = await logText(world.service, 'checkpoint');
    const [base = ''] = witness.setting.split(' ');
    const answer = await fetch(`${base}add-checkpoint`, { method: 'POST', body: `old 0\n\n${checkpoint}` });
    const signed = checkpoint + (await answer.text());
    await witness.close();
    const size = Number(checkpoint.split('\n')[1]);
    const honest = {
      name: witness.key.name,
      vkey: verifierKeyText(witness.key),
      size,
      checkpoint: signed,
    };
    const other = await startWitness('witness.example/other');
    await other.close();
    const vkey = verifierKeyText(other.key);
    return [
      honest,
      { name: 'witness.example/new', vkey, size: 0, checkpoint: null },
      { name: 'witness.example/lying', vkey, size, checkpoint: signed },
      { name: 'witness.example/ahead', vkey, size: size + 1_000_000, checkpoint: null },
    ];
  }
});
