// Prints what Lighthouse gives each page of the dashboard, as a phone and as a desktop; names after it choose pages.
// Lighthouse is run by npx: with its dependencies it is larger than everything installed for the other tests.
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { chromium } from 'playwright-core';
import { findChromium } from '../support/find-chromium.ts';
import { freePort } from '../support/listen.ts';
import { filledStore } from './support/filled-store.ts';
import { PROJECT_PAGES } from './support/project-pages.ts';
import { World } from './support/world.ts';

const LIGHTHOUSE = 'lighthouse@12.8.2';
const ROWS = 100_000;
const WANTED = 0.95;
const FORMS = { phone: [], desktop: ['--preset=desktop'] };
const OTHERS = { account: '/account', choose: '/?choose', docs: '/docs' };
const DOORS = {
  'sign-in': '/sign-in',
  register: '/register',
  'forgot-password': '/forgot-password',
  'reset-password': '/reset-password/token',
  'verify-email': '/verify-email/token',
};
/** Pages with a secret in their address must not be indexed, which costs them points. */
const SECRET = /token$/;
const CATEGORIES = ['performance', 'accessibility', 'best-practices', 'seo'] as const;

type Report = {
  runtimeError?: { message: string };
  categories: Record<string, { score: number | null; auditRefs: { id: string; weight: number }[] }>;
  audits: Record<string, { score: number | null; title: string }>;
};
const run = promisify(execFile);
const chosen = process.argv.slice(2);
const world = new World();
const folder = mkdtempSync(join(tmpdir(), 'lighthouse-'));
// The service's process alone does not keep this one waiting for its end.
const awake = setInterval(() => undefined, 1000);
let isGood = true;
try {
  await world.open({ dataDir: filledStore(ROWS) });
  const inside = Object.entries(PROJECT_PAGES).map(
    ([name, path]) => [name, world.projectPath(path)] as const,
  );
  await measure([...inside, ...Object.entries(OTHERS)], { isSignedIn: true });
  await measure(Object.entries(DOORS), { isSignedIn: false });
} finally {
  await world.close();
  rmSync(folder, { recursive: true, force: true });
  clearInterval(awake);
}
process.exit(isGood ? 0 : 1);

async function measure(
  pages: (readonly [name: string, path: string])[],
  { isSignedIn }: { isSignedIn: boolean },
) {
  const wanted = pages.filter(([name]) => chosen.length === 0 || chosen.includes(name));
  const port = await freePort();
  // Lighthouse opens its pages in the profile of the browser, where the session must be.
  const context = await chromium.launchPersistentContext(join(folder, String(isSignedIn)), {
    executablePath: findChromium() ?? '',
    args: ['--no-sandbox', `--remote-debugging-port=${port}`],
  });
  if (isSignedIn) {
    const { page } = await world.newPage();
    await context.addCookies(await page.context().cookies());
    await world.closePages();
  }
  for (const [name, path] of wanted)
    for (const [form, options] of Object.entries(FORMS)) await print({ name, path, form, options, port });
  await context.close();
}

type Page = { name: string; path: string; form: string; options: string[]; port: number };

async function print({ name, path, form, options, port }: Page): Promise<void> {
  const output = join(folder, 'report.json');
  const fixed = ['--disable-storage-reset', '--no-enable-error-reporting', '--quiet', '--output=json'];
  const skipped = SECRET.test(path) ? ['--skip-audits=is-crawlable'] : [];
  const args = [`--port=${port}`, `--output-path=${output}`, ...fixed, ...skipped, ...options];
  await run('npx', ['--yes', LIGHTHOUSE, world.service.url + path, ...args]);
  const { runtimeError, categories, audits } = JSON.parse(readFileSync(output, 'utf8')) as Report;
  if (runtimeError !== undefined) throw new Error(`${name}: ${runtimeError.message}`);
  const scores = CATEGORIES.map((category) => categories[category]?.score ?? 0);
  const low = CATEGORIES.filter((_, index) => (scores[index] ?? 0) < WANTED);
  isGood &&= low.length === 0;
  console.log([name.padEnd(16), form.padEnd(8), ...scores.map((score) => score.toFixed(2))].join('  '));
  for (const category of low)
    for (const { id, weight } of categories[category]?.auditRefs ?? []) {
      const { score = null, title = id } = audits[id] ?? {};
      if (weight > 0 && score !== null && score < 0.9) console.log(`    ${category}: ${title} ${score}`);
    }
}
