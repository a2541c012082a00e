import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { call, newPerson, PASSWORD } from '../support/accounts.ts';
import { register } from '../support/agents.ts';
import { sendDecision, sendLlm } from '../support/audit.ts';
import { decisionEvent, llmInvocation } from '../support/events.ts';
import { overflowAt } from './support/overflow.ts';
import { useWorld, type World } from './support/world.ts';

const IMAGE = '<img src=x onerror="window.pwned=1">';
const TRICK = '\u202egnp.exe\u2066 \u200bhidden';
const HOSTILE = `${IMAGE}<script>window.pwned=1</script> javascript:window.pwned=1 {{7*7}} ${TRICK}`;
const TURNING = /[\u202a-\u202e\u2066-\u2069]/;
/** An address with such a name is longer than Chromium accepts, so the service is not called. */
const HUGE = 2_000_000;

describe('content from events in a browser', function () {
  const world = useWorld(this);
  it('is shown as text in every field and runs nothing', async () => {
    await recordHostile(world);
    const { page, faults } = await world.newPage();
    const key = await page.request.post(`/v1/projects/${world.service.project_id}/keys`, {
      data: { name: IMAGE + TRICK },
    });
    expect(key.status()).to.equal(201);
    await nameProject(page, HOSTILE.slice(-60));
    const agent = HOSTILE.replaceAll('/', '|');
    await page.goto(world.projectPath('decisions', { agent }));
    await page.locator('.decision-row').first().click();
    const drawer = page.getByRole('complementary', { name: 'Decision' });
    await drawer.getByText('Record').waitFor();
    const shown = await drawer.innerText();
    await expectInert(page);
    const own = `agents/${encodeURIComponent(agent)}`;
    for (const shownAt of ['overview', 'agents', 'usage', 'keys', own, `${own}?tab=definition`]) {
      await page.goto(world.projectPath(shownAt));
      await page.locator('main').getByText('onerror=').locator('visible=true').first().waitFor();
      await expectInert(page);
    }
    await page.locator('.cm-specialChar').getByText('U+202E').first().waitFor();
    const path = `/v1/projects/${world.service.project_id}/agents/${encodeURIComponent(agent)}`;
    const saved = await page.request.put(path, { data: { system_md: 'harmless' } });
    expect(saved.status()).to.equal(200);
    await page.goto(world.projectPath(`${own}?tab=versions&part=system_md`));
    await page.locator('.cm-deletedChunk').getByText('onerror=').first().waitFor();
    await expectInert(page);
    await page.goto('/account');
    await page.locator('main').getByText('U+202E').waitFor();
    await expectInert(page);

    expect(shown.split('onerror=').length).to.be.above(8);
    expect(shown).to.include('U+202E').and.to.include('U+2066').and.to.include('U+200B');
    expect(faults).to.deep.equal([]);
  });

  it('in the address breaks no page', async () => {
    const { page, faults } = await world.newPage();
    const agent = world.projectPath('agents/support-triage');
    for (const [path, text] of [
      [world.projectPath('decisions', { outcome: 'constructor' }), 'constructor'],
      [world.projectPath('agents', { order: '__proto__' }), 'support-triage'],
      [world.projectPath('usage', { 'order-model': 'toString' }), 'model-large'],
      [`${agent}?tab=versions&part=toString`, 'Version'],
    ] as const) {
      await page.goto(path);
      await page.locator('main').getByText(text).first().waitFor();
    }
    // The service refuses the outcome.
    expect(faults.filter((fault) => !fault.includes('422'))).to.deep.equal([]);
  });

  it('without a space makes no page scroll sideways', async () => {
    const { page } = await world.newPage();
    const long = 'x'.repeat(200);
    const event = decisionEvent({ agent_name: long, session_id: long });
    expect((await sendDecision(world.service, event)).status).to.equal(202);
    const webhook = `/v1/projects/${world.projectId}/alerts/webhook`;
    await page.request.put(webhook, { data: { url: `https://example.com/${long}` } });
    const address = {
      email: `${'e'.repeat(60)}@${'d'.repeat(60)}.${'d'.repeat(60)}.org`,
      password: PASSWORD,
    };
    const expectFit = async (path: string, text: string) => {
      await page.goto(path);
      await page.locator('main').getByText(text).first().waitFor();
      for (const width of [360, 1360])
        expect(await overflowAt(page, width), `${path}, ${width} px`).to.be.at.most(0);
    };
    await expectFit(world.projectPath('decisions', { session_id: long, agent: long }), 'no model calls');
    await expectFit(world.projectPath('alerts'), 'Alerts are posted to');
    await page.request.delete(webhook);
    await page.request.post('/v1/auth/register', { data: address });
    await page.request.post('/v1/auth/login', { data: address });
    await expectFit('/account', 'Your e-mail address is not verified yet');
  });

  it('without a space makes no table of keys scroll sideways on a desktop', async () => {
    const { page } = await world.newPage({ isSignedIn: false });
    const email = `${'k'.repeat(60)}@${'d'.repeat(60)}.org`;
    const { cookie, project } = await newPerson(world.service, email);
    const name = 'k'.repeat(100);
    await call(world.service, `/v1/projects/${project.id}/keys`, { cookie, body: { name } });
    await page.request.post('/v1/auth/login', { data: { email, password: PASSWORD } });
    await page.goto(`/projects/${project.id}/keys`);
    await page.getByRole('rowheader', { name }).waitFor();

    expect(await sidewaysOf(page, 'Keys')).to.equal(0);
  });

  it('without a space makes no table of model calls scroll sideways, on a phone or a large screen', async () => {
    const { page } = await world.newPage();
    const [long, agent_name] = ['m'.repeat(100), 'm'.repeat(200)];
    const texts = { agent_name, model: long, user_id: long, session_id: long, error_type: long };
    const counts = { input_tokens: 987_654_321, output_tokens: 123_456_789, cost_usd: 12_345_678.91 };
    expect((await sendLlm(world.service, llmInvocation({ ...texts, ...counts }))).status).to.equal(202);
    await page.goto(world.projectPath('usage/calls'));
    await page.getByRole('rowheader', { name: long }).waitFor();

    for (const width of [360, 1920]) {
      await page.setViewportSize({ width, height: 860 });
      expect(await sidewaysOf(page, 'List of model calls'), `${width} px`).to.equal(0);
    }
    expect(await page.getByRole('cell', { name: agent_name }).getAttribute('title')).to.equal(agent_name);
  });

  it('without a space hides no link after it on a desktop', async () => {
    const { page } = await world.newPage();
    const agent_name = 'w'.repeat(60);
    const call = { ...decisionEvent({ agent_name }), model: 'm', input_tokens: 1, output_tokens: 1 };
    expect((await sendLlm(world.service, call)).status).to.equal(202);
    await page.goto(world.projectPath('usage'));
    const link = page.getByRole('link', { name: `Decisions of ${agent_name}` });
    const [inner, outer] = [await link.boundingBox(), await link.locator('..').boundingBox()];

    expect((inner?.x ?? 0) + (inner?.width ?? 0)).to.be.at.most((outer?.x ?? 0) + (outer?.width ?? 0));
  });

  it('of 2 MB in every field is cut, and the page stays alive', async () => {
    const { page, faults } = await world.newPage({ initScript: hugeRecords() });
    await page.goto(world.projectPath('decisions'));
    await page.locator('.decision-row').first().click();
    const drawer = page.getByRole('complementary', { name: 'Decision' });
    await drawer
      .getByText(/show more of/)
      .first()
      .waitFor();
    await drawer
      .getByRole('button', { name: /show more of/ })
      .first()
      .click();
    const length = await page.evaluate<number>('document.body.innerText.length');
    expect(length).to.be.above(10_000).and.below(1_000_000);
    expect(faults).to.deep.equal([]);
  });
});

/** Nothing has run, nothing became an element or a link, and nothing changes the direction of its surroundings. */
async function expectInert(page: Page): Promise<void> {
  expect(await page.evaluate('window.pwned')).to.equal(undefined);
  expect(await page.locator('main img, main script').count()).to.equal(0);
  expect(await page.locator('a[href^="javascript:"]').count()).to.equal(0);
  const labels = '[...document.querySelectorAll("[aria-label]")].map((element) => element.ariaLabel)';
  const seen = await page.evaluate<string[]>(`[document.title, document.body.textContent, ...${labels}]`);
  for (const text of seen) expect(text).not.to.match(TURNING);
  for (const text of await page.locator('.cm-content').allTextContents()) expect(text).not.to.match(TURNING);
}

/** As if the project had been created under that name. */
async function nameProject(page: Page, name: string): Promise<void> {
  await page.route(/auth\/session$/, async (route) => {
    const answer = await route.fetch();
    const { account } = (await answer.json()) as { account: { projects: { name: string }[] } };
    const projects = account.projects.map((project) => ({ ...project, name }));
    await route.fulfill({ json: { account: { ...account, projects } } });
  });
}

/** An event, a model call and an agent with hostile text wherever text is possible. */
async function recordHostile({ service }: World): Promise<void> {
  const name = HOSTILE.replaceAll('/', '|');
  const event = decisionEvent({
    agent_name: name,
    tool_name: HOSTILE,
    role: HOSTILE.slice(0, 100),
    outcome: 'deny',
    error_type: HOSTILE.slice(0, 100),
    reason: HOSTILE,
    violations: [HOSTILE, HOSTILE],
    hint: { [HOSTILE]: HOSTILE, __proto__x: HOSTILE },
    arguments: { [HOSTILE]: [HOSTILE, { [HOSTILE]: HOSTILE }], constructor: HOSTILE },
    user_id: HOSTILE,
    session_id: HOSTILE,
  });
  const call = {
    ...decisionEvent(),
    agent_name: name,
    model: HOSTILE,
    input_tokens: 1,
    output_tokens: 1,
    cost_usd: 1000,
  };
  const agent = { name, tools: [{ name: IMAGE, description: HOSTILE }], system_md: HOSTILE };
  const answers = await Promise.all([
    sendDecision(service, event),
    sendLlm(service, call),
    register(service, agent),
  ]);
  expect(answers.map(({ ok }) => ok)).to.deep.equal([true, true, true]);
}

/** How far a table scrolls sideways. */
function sidewaysOf(page: Page, name: string): Promise<number> {
  return page
    .getByRole('region', { name, exact: true })
    .evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth);
}

/** Puts 2 MB into every text of the first record before the page gets it; no service would store that much. */
function hugeRecords(): string {
  return `
    const original = globalThis.fetch;
    globalThis.fetch = async (path, options) => {
      const answer = await original(path, options);
      if (!String(path).includes('/audit/decisions?')) return answer;
      const body = await answer.json();
      const huge = '<b>\\u202e'.padEnd(${HUGE}, 'A ');
      const [first] = body.items;
      for (const name of ['agent_name', 'tool_name', 'role', 'reason', 'user_id', 'session_id', 'error_type']) first[name] = huge;
      Object.assign(first, { violations: [huge], hint: { huge }, arguments: { huge, list: Array(5000).fill('x') } });
      return new Response(JSON.stringify({ ...body, items: [first] }), { status: answer.status });
    };
  `;
}
