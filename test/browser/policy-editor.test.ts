import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { sendDecision } from '../support/audit.ts';
import { decisionEvent } from '../support/events.ts';
import { holdNext } from './support/hold.ts';
import { fetchPolicy, savePolicy } from './support/policy.ts';
import { expectAccessible, useWorld } from './support/world.ts';

const AGENT = 'code-reviewer';
const DRAFT = `version: 1
agent: ${AGENT}
tools: [read_diff, comment, run_tests, approve_merge]
roles:
  maintainer: {allow: ["*"]}
  "*": {allow: [read_diff, comment]}
rules:
  - id: big-merge
    tools: [approve_merge]
    require: {arg: amount, lte: 1000}
    effect: needs_approvalXX
    reason: Big merges need a person.
`;

const CHANGE = {
  tool: 'refund_order_of_another_customer',
  role: 'maintainer',
  from: 'needs_approval',
  to: 'allow',
  count: 12_345,
  samples: [],
};

describe('the policy editor in a browser', function () {
  const world = useWorld(this);
  it('shows an error as it is typed, decides, replays and saves; the next fetch serves it', async () => {
    const { page, faults } = await world.newPage();
    const before = await fetchPolicy(world, AGENT);
    const denied = {
      tool_name: 'approve_merge',
      role: 'maintainer',
      outcome: 'deny',
      arguments: { amount: 5000 },
    };
    await sendDecision(world.service, decisionEvent({ agent_name: AGENT, ...denied }));
    await page.goto(world.projectPath(`agents/${AGENT}`));
    const editor = page.getByRole('textbox', { name: 'Policy in YAML' });
    await editor.click();
    await page.keyboard.press('ControlOrMeta+a');
    // Key by key, like a person: the result of a check must not undo later typing.
    await page.keyboard.type('version: 1 ');
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.insertText(DRAFT);

    // See the error, with its place, and that it cannot be saved.
    const error = page.getByRole('list', { name: 'Errors in the policy' }).getByRole('button');
    await error.first().waitFor();
    expect(await error.first().innerText()).to.match(/^11:13/);
    await page.getByText('1 error').waitFor();
    expect(await page.getByRole('button', { name: 'Save…' }).isDisabled()).to.equal(true);
    await expectAccessible(page);

    // Fix it at the place that the click leads to: the wrong word.
    await error.first().click();
    await page.locator('.cm-focused').waitFor();
    await page.keyboard.press('End');
    await page.keyboard.press('Backspace');
    await page.keyboard.press('Backspace');
    await page.getByText('valid', { exact: true }).waitFor();

    await page.getByLabel('Tool').fill('approve_merge');
    await page.getByLabel('Role').fill('maintainer');
    await page.getByLabel('Arguments (JSON)').fill('{"amount": 1000.01}');
    await page.getByRole('button', { name: 'Test call' }).click();
    await page.locator('.dry-run-result').getByText('Big merges need a person.', { exact: true }).waitFor();

    await page.getByRole('button', { name: 'Replay' }).click();
    const report = page.locator('.replay-report');
    await report.getByText(/would change, compared with the current policy, v1/).waitFor();
    await report.getByText(/^(All|The newest) [\d,]+ (of [\d,]+ )?decisions in 7 days/).waitFor();
    await report.getByText(/differ from what was recorded/).click();
    // The list behind the number has the recorded outcome alone.
    const link = await report.locator('.replay-recorded td a').first().getAttribute('href');
    expect(link).to.include('outcome=deny');
    await expectAccessible(page);

    // Before the check of the last key: the dialog waits for it.
    await editor.click();
    await page.keyboard.type(' ');
    await page.keyboard.press('Backspace');
    await page.keyboard.press('ControlOrMeta+s');
    const dialog = page.getByRole('dialog', { name: 'Save version 2 of the policy?' });
    await dialog.getByText(/would change, compared with/).waitFor();
    await dialog.locator('.cm-changedLine').first().waitFor();
    await expectAccessible(page, 'dialog');
    await dialog.getByLabel('Note (optional)').fill(' Refunds go through people now.\nSee <b>12</b>. ');
    await dialog.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Saved as version 2.').waitFor();
    expect(await page.evaluate('document.activeElement.ariaLabel')).to.equal('Policy');
    const after = await fetchPolicy(world, AGENT);

    expect(after.policy).to.equal(DRAFT.replace('XX', ''));
    expect(after.etag).not.to.equal(before.etag);
    await page.goto(world.projectPath(`agents/${AGENT}`, { tab: 'versions' }));
    await page.locator('.cm-changedLine').first().waitFor();
    const note = page.getByText('Refunds go through people now.');
    await note.nth(1).waitFor();
    expect(await note.nth(1).innerText()).to.equal('Refunds go through people now.\nSee <b>12</b>.');
    await expectAccessible(page);
    expect(faults).to.deep.equal([]);
  });

  it('keeps the draft when someone else saved first, and saves it on the newer version', async () => {
    const { page } = await world.newPage();
    await page.goto(world.projectPath('agents/data-analyst'));
    await page.getByText('valid', { exact: true }).waitFor();
    await page.getByRole('textbox', { name: 'Policy in YAML' }).click();
    await page.keyboard.press('ControlOrMeta+End');
    await page.keyboard.insertText('# mine\n');
    await savePolicy(world, 'data-analyst', '# theirs\n');
    const save = page.getByRole('button', { name: 'Save…' });
    await save.click();
    await page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Someone else saved a newer version').waitFor();
    await page.getByRole('button', { name: /keep my draft/ }).click();
    await page.locator('.policy-bar').getByText('v2', { exact: true }).waitFor();
    await save.click();
    await page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Saved as version 3.').waitFor();
  });

  it('also keeps a draft of the system prompt, and loads the newer version if it was refused', async () => {
    const { page } = await world.newPage();
    await page.goto(world.projectPath('agents/checkout-assistant', { tab: 'definition' }));
    const prompt = page.getByRole('region', { name: 'System prompt' });
    await prompt.locator('.cm-content').click();
    await page.keyboard.type('mine');
    await savePolicy(world, 'checkout-assistant', '# theirs\n');
    await page.keyboard.press('ControlOrMeta+s');
    await confirmSave(page, 2);
    await page.getByRole('button', { name: 'Load the newer version, keep my draft' }).click();
    await page.getByText('Someone else saved a newer version').waitFor({ state: 'detached' });
    expect(await prompt.locator('.cm-content').innerText()).to.include('mine');
    await prompt.getByRole('button', { name: 'Save…' }).click();
    await confirmSave(page, 3);
    await page.getByText('Saved as version 3.').waitFor();
  });

  it('loses nothing that is typed while a draft is being saved', async () => {
    const { page } = await world.newPage();
    await page.route(/\/agents\/support-triage(\/versions\/\d+)?$/, async (route) => {
      await sleep(600);
      await route.continue();
    });
    await page.goto(world.projectPath('agents/support-triage', { tab: 'definition' }));
    const prompt = page.getByRole('region', { name: 'System prompt' });
    await prompt.locator('.cm-content').click();
    await page.keyboard.type('one');
    await prompt.getByRole('button', { name: 'Save…' }).click();
    await confirmSave(page, 2);
    await page.keyboard.press('Escape');
    await prompt.locator('.cm-content').click();
    await page.keyboard.type(' two');
    await page.getByText('Saved as version 2.').waitFor();
    await page.keyboard.type(' three');
    await page.waitForTimeout(1000);
    expect(await prompt.locator('.cm-content').innerText()).to.include('one two three');
    // A save that fails after its dialog was closed says so.
    const answer = { status: 503, json: { code: 'store_unavailable', detail: 'The store is away' } };
    const refused = await holdNext(page, /\/agents\/support-triage$/, { method: 'PUT', answer });
    await prompt.getByRole('button', { name: 'Save…' }).click();
    await confirmSave(page, 3);
    await refused.asked;
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await refused.release();
    await page.getByText('Not saved: The store is away. Your draft is kept.').waitFor();
    await prompt.getByRole('button', { name: 'Save…' }).click();
    await confirmSave(page, 3);
    await page.getByText('Saved as version 3.').waitFor();
  });

  it('checks a definition, shows what changes, and asks before saving it', async () => {
    const { page, faults } = await world.newPage();
    await page.goto(world.projectPath('agents/checkout-assistant', { tab: 'definition' }));
    const definition = page.getByRole('region', { name: 'Definition', exact: true });
    const save = definition.getByRole('button', { name: 'Save…' });
    const text = definition.locator('.cm-content');
    await text.click();
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.insertText('name: checkout-assistant\ntools: [');
    const error = definition.getByRole('list', { name: 'Errors in the definition' }).getByRole('button');
    await error.first().waitFor();
    expect(await error.first().innerText()).to.match(/^2:/);
    expect(await save.isDisabled()).to.equal(true);
    await page.keyboard.press('ControlOrMeta+s');
    await expectAccessible(page);
    await error.first().click();
    await page.keyboard.press('ControlOrMeta+End');
    await page.keyboard.insertText('refund]\n');
    await error.first().waitFor({ state: 'detached' });
    await save.click();
    const dialog = page.getByRole('dialog');
    await dialog.locator('.cm-changedLine').first().waitFor();
    await expectAccessible(page, 'dialog');
    await dialog.getByRole('button', { name: 'Back to the editor' }).click();
    await save.click();
    await dialog.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText(/^Saved as version \d+\.$/).waitFor();
    expect(await text.innerText()).to.include('tools: [refund]');
    expect(faults).to.deep.equal([]);
  });

  it('shows what is typed into each field in the colour of text', async () => {
    const { page } = await world.newPage();
    await page.goto(world.projectPath('agents/demo-agent'));
    await page.getByRole('button', { name: 'Replay' }).waitFor();
    const colors = await page.evaluate<string[]>(
      `[...document.querySelectorAll('main :is(h1, input, textarea, select)')].map((one) => getComputedStyle(one).color)`,
    );

    expect(colors).to.have.length(5);
    expect([...new Set(colors)]).to.have.length(1);
  });

  it('keeps the save button in its place, and waits for the replay by default', async () => {
    const { page } = await world.newPage();
    const { promise: mayAnswer, resolve: answer } = Promise.withResolvers<void>();
    await page.route(/\/check$/, async (route) => {
      if (route.request().postData()?.includes('"replay"') === true) await mayAnswer;
      await route.continue();
    });
    await page.goto(world.projectPath('agents/demo-agent'));
    await page.getByRole('textbox', { name: 'Policy in YAML' }).click();
    await page.keyboard.insertText('# mine\n');
    await page.getByRole('button', { name: 'Save…' }).click();
    const dialog = page.getByRole('dialog');
    const save = dialog.getByRole('button', { name: 'Save', exact: true });
    await dialog.getByText('Replaying them…').waitFor();
    // Not on a button that is there only until the replay ends.
    expect(await page.locator(':focus').getAttribute('class')).to.equal('dialog-body');
    expect(await save.isDisabled()).to.equal(true);
    const place = await save.boundingBox();
    await dialog.getByRole('button', { name: 'Save without waiting' }).click();
    expect(await save.isDisabled()).to.equal(false);
    answer();
    // This agent has made no calls.
    await dialog.getByText('No call was replayed, so the effect is unknown.').waitFor();
    expect(await dialog.getByText(/of 0/).count()).to.equal(0);
    expect(await save.boundingBox()).to.deep.equal(place);
  });

  it('tries a recorded call with the current policy and with the draft', async () => {
    const { page, faults } = await world.newPage();
    const event = decisionEvent({ agent_name: 'data-analyst', tool_name: 'nothing', arguments: null });
    await sendDecision(world.service, event);
    await page.goto(world.projectPath('agents/data-analyst'));
    const editor = page.getByRole('textbox', { name: 'Policy in YAML' });
    await editor.click();
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.insertText(
      'version: 1\ntools: [nothing]\nroles: {"*": {allow: [nothing]}}\nrules: []\n',
    );
    await page.getByRole('link', { name: 'View decisions' }).click();
    await page.locator('.decision-row').filter({ hasText: 'nothing' }).first().click();
    const drawer = page.getByRole('complementary', { name: 'Decision' });
    await drawer.getByRole('button', { name: /^Try with the current policy, v\d+$/ }).click();
    await drawer.getByText(/^By the current policy, v\d+: Deny .*not as recorded$/).waitFor();
    await drawer.getByRole('button', { name: 'Try with your draft' }).click();
    await drawer.getByText('By your draft: Allow as recorded').waitFor();
    await expectAccessible(page, '.drawer');
    expect(faults).to.deep.equal([]);
  });

  it('shows the newer version after a draft was discarded', async () => {
    const { page } = await world.newPage();
    await page.goto(world.projectPath('agents/demo-agent'));
    const editor = page.getByRole('textbox', { name: 'Policy in YAML' });
    await editor.click();
    await page.keyboard.insertText('# mine\n');
    const discard = page.getByRole('button', { name: 'Discard' });
    await discard.click();
    await discard.waitFor({ state: 'detached' });
    await savePolicy(world, 'demo-agent', '# theirs\n');
    await page.getByRole('link', { name: 'Agents', exact: true }).click();
    await page.getByRole('link', { name: 'demo-agent' }).click();
    await editor.getByText('# theirs').waitFor();
    expect(await discard.count()).to.equal(0);
  });

  it('creates no draft for a policy with CRLF that is unchanged, or changed back', async () => {
    const { page } = await world.newPage();
    await savePolicy(world, 'demo-agent', '# with CRLF\r\n');
    await page.goto(world.projectPath('agents/demo-agent'));
    const editor = page.getByRole('textbox', { name: 'Policy in YAML' });
    await editor.getByText('# with CRLF').waitFor();
    await savePolicy(world, 'demo-agent', '# newer\r\n');
    await page.getByRole('link', { name: 'Agents', exact: true }).click();
    await page.getByRole('link', { name: 'demo-agent' }).click();
    await editor.getByText('# newer').waitFor();
    const discard = page.getByRole('button', { name: 'Discard' });
    expect(await discard.count()).to.equal(0);
    await editor.press('Control+End');
    await page.keyboard.type('# mine');
    await discard.waitFor();
    for (const _ of '# mine') await page.keyboard.press('Backspace');
    await discard.waitFor({ state: 'detached' });
  });

  it('never shows a result next to another call', async () => {
    const { page } = await world.newPage();
    await page.route(/\/check$/, async (route) => {
      const { replay, ...body } = (await (await route.fetch()).json()) as { replay?: object };
      const changes = { changed: CHANGE.count, changes: [CHANGE] };
      const replayed = { replayed: CHANGE.count, ...changes, current: { version: 1, ...changes } };
      await route.fulfill({ json: { ...body, ...(replay && { replay: { ...replay, ...replayed } }) } });
    });
    await page.goto(world.projectPath('agents/support-triage'));
    const decide = page.getByRole('button', { name: 'Test call' });
    const args = page.getByLabel('Arguments (JSON)');
    await args.fill('{');
    expect(await args.getAttribute('aria-invalid')).to.equal('true');
    const note = page.locator(`[id="${await args.getAttribute('aria-describedby')}"]`);
    expect(await note.innerText()).to.equal('Invalid JSON.');
    await args.fill('{}');
    await decide.click();
    await page.locator('.dry-run-result').waitFor();
    await page.getByLabel('Role').fill('another');
    await page.locator('.dry-run-result').waitFor({ state: 'detached' });
    // A change gives up what was asked before it, so that the new question is asked at once.
    const decision = await holdNext(page, /\/check$/, { method: 'POST' });
    await decide.click();
    await decision.asked;
    await page.getByLabel('Role').fill('a third');
    await decide.click();
    await page.locator('.dry-run-result').waitFor();
    const replayed = await holdNext(page, /\/check$/, { method: 'POST' });
    await page.getByRole('button', { name: 'Replay' }).click();
    await replayed.asked;
    await page.getByLabel('Period').selectOption('30d');
    await page.getByRole('button', { name: 'Replay', exact: true }).click();
    const changes = page.getByRole('region', { name: 'What would change' });
    expect(await changes.evaluate((element) => element.scrollWidth - element.clientWidth)).to.equal(0);
    await page.getByLabel('Period').selectOption('24h');
    await page.locator('.replay-report').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Replay' }).click();
    await page.locator('.replay-report').waitFor();
    await page.getByRole('textbox', { name: 'Policy in YAML' }).click();
    await page.keyboard.insertText('# another\n');
    await page.locator('.replay-report').waitFor({ state: 'detached' });
  });

  it('asks before a copy of an old version replaces a draft', async () => {
    const { page } = await world.newPage();
    await savePolicy(world, 'data-analyst', '# one more\n');
    await page.goto(world.projectPath('agents/data-analyst'));
    const editor = page.getByRole('textbox', { name: 'Policy in YAML' });
    await editor.click();
    await page.keyboard.insertText('# my draft\n');
    await page.getByRole('link', { name: 'Versions' }).click();
    // The saved line is a comment: the palest text, in what was inserted.
    await page.locator('.cm-changedLine').first().waitFor();
    await expectAccessible(page);
    await page.getByRole('link', { name: /^v1 .* UTC/ }).click();
    const edit = page.getByRole('button', { name: 'Edit a copy of v1' });
    const question = page.getByRole('dialog', { name: 'Replace the draft?' });
    await edit.click();
    await question.getByRole('button', { name: 'Cancel' }).click();
    await edit.click();
    await expectAccessible(page, 'dialog');
    await question.getByRole('button', { name: 'Replace draft' }).click();
    await page.getByText('valid', { exact: true }).waitFor();
    expect(await editor.innerText()).not.to.include('# my draft');
    expect(await editor.innerText()).not.to.include('# one more');
  });

  it('is read-only for non-members', async () => {
    const { page } = await world.newPage({ isSignedIn: false });
    await page.goto(world.projectPath('agents/support-triage'));
    await page.getByText('as a member to edit.').waitFor();
    const editor = page.locator('.cm-content');
    expect(await editor.getAttribute('contenteditable')).to.equal('false');
    await expectAccessible(page);
  });
});

/** In the dialog that shows the changes. */
async function confirmSave(page: Page, version: number): Promise<void> {
  const dialog = page.getByRole('dialog', { name: `Save version ${version} ` });
  await dialog.locator('.cm-content').waitFor();
  await dialog.getByRole('button', { name: 'Save', exact: true }).click();
}
