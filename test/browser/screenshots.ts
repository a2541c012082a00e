// Creates the pictures of the dashboard from demo data: the README's in the repository, every page's with --all <folder>.
import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { Page } from 'playwright-core';
import { sendDecision } from '../support/audit.ts';
import { decisionEvent } from '../support/events.ts';
import { askJson } from '../support/reads.ts';
import { filledStore } from './support/filled-store.ts';
import { PROJECT_PAGES } from './support/project-pages.ts';
import { World } from './support/world.ts';

const PICTURE = fileURLToPath(new URL('../../server/dashboard/screenshots/overview.png', import.meta.url));
const PICTURE_BYTES_MAX = 300 * 1024;
const SETTLE_MS = 600;
const VIEWPORT = { width: 1360, height: 860 };
const VIEWPORTS = {
  phone: { width: 390, height: 844 },
  desktop: VIEWPORT,
  wide: { width: 2560, height: 1300 },
};

const OTHERS: Record<string, string> = {
  account: '/account',
  choose: '/?choose',
  docs: '/docs',
  nowhere: '/no/such/page',
};
const DOORS = ['sign-in', 'register', 'forgot-password', 'reset-password/token', 'verify-email/token'];

const { values } = parseArgs({ options: { all: { type: 'string' } } });
const world = new World();
// The service's process alone does not keep this one waiting for its end.
const awake = setInterval(() => undefined, 1000);
try {
  await world.open({ dataDir: filledStore(300_000) });
  mkdirSync(join(PICTURE, '..'), { recursive: true });
  const { page } = await world.newPage({ viewport: VIEWPORT });
  await visit(page, world.projectPath('overview'));
  await page.screenshot({ path: PICTURE });
  const { size } = statSync(PICTURE);
  if (size > PICTURE_BYTES_MAX)
    throw new Error(`The picture has ${size} bytes; it may have ${PICTURE_BYTES_MAX}`);
  console.log(`server/dashboard/screenshots/overview.png, ${size} bytes`);
  if (values.all !== undefined) await takeAll(values.all);
} finally {
  await world.close();
  clearInterval(awake);
}
process.exit(0);

async function takeAll(folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  Object.assign(OTHERS, await rarePages());
  for (const scheme of ['light', 'dark'] as const)
    for (const [width, viewport] of Object.entries(VIEWPORTS))
      await takeEach(folder, { scheme, width, viewport });
  console.log(`Every page, light and dark, in three widths: ${folder}`);
}

/** Adds states that the demo data alone do not show. */
async function rarePages(): Promise<Record<string, string>> {
  const { service, projectId } = world;
  for (const tool_name of ['search', 'refund'])
    await sendDecision(service, decisionEvent({ agent_name: 'stray-agent', tool_name }));
  const query = { by: 'session_id', window: '24h', limit: '1' };
  const { items } = await askJson<{ items: [{ value: string }] }>(service, 'breakdown', { query, projectId });
  const session = { window: '90d', session_id: items[0].value, view: 'timeline' };
  const { page } = await world.newPage();
  const made = await page.request.post('/v1/projects', { data: { name: 'Empty' } });
  const { id } = (await made.json()) as { id: string };
  await world.closePages();
  return {
    timeline: world.projectPath('decisions', session),
    unregistered: world.projectPath('agents/stray-agent'),
    empty: `/projects/${id}/overview`,
  };
}

type Look = { scheme: 'light' | 'dark'; width: string; viewport: typeof VIEWPORT };

async function takeEach(folder: string, { scheme, width, viewport }: Look): Promise<void> {
  const { page } = await world.newPage({ viewport, scheme });
  const take = (from: Page, name: string) =>
    from.screenshot({ path: join(folder, `${name}-${scheme}-${width}.png`) });
  for (const [name, path] of Object.entries(PROJECT_PAGES)) {
    await visit(page, world.projectPath(path));
    await take(page, name);
  }
  for (const [name, path] of Object.entries(OTHERS)) {
    await visit(page, path);
    await take(page, name);
  }
  await visit(page, world.projectPath('decisions'));
  await page.locator('.decision-row').nth(1).click();
  await page.waitForTimeout(SETTLE_MS);
  await take(page, 'drawer');
  const stranger = await world.newPage({ viewport, scheme, isSignedIn: false });
  for (const path of DOORS) {
    await visit(stranger.page, `/${path}`);
    await take(stranger.page, path.split('/')[0] ?? path);
  }
  await world.closePages();
}

async function visit(page: Page, path: string): Promise<void> {
  await page.goto(path);
  await page.waitForLoadState('networkidle');
  await page.waitForTimeout(SETTLE_MS);
}
