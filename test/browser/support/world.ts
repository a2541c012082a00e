import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { expect } from 'chai';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { filledDirectory, startTestService, type TestService } from '../../support/service.ts';
import { eventually } from '../../support/eventually.ts';
import { launchBrowser } from './browser.ts';
import { pullPolicies, seedFleet } from './seed.ts';

type StorageState = Awaited<ReturnType<BrowserContext['storageState']>>;
type OpenOptions = {
  isSignedIn?: boolean;
  scheme?: 'light' | 'dark';
  viewport?: { width: number; height: number };
  timezoneId?: string;
  initScript?: string;
  /** In a separate context: for changes that cannot be undone, such as another clock or a script, and to measure a first visit. */
  isFresh?: boolean;
};

/** A page, and everything that the browser complained about on it. */
export type OpenPage = { page: Page; faults: string[] };

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const DESKTOP = { width: 1360, height: 860 };
const WAIT_MS_MAX = 60_000;

/** A small fleet in a separate store, the demo fleet, or a store that was filled before. */
type WorldOptions = { dataDir?: string; hasDemoFleet?: boolean; env?: Record<string, string> };

/** One service with a fleet and one browser for all cases of a suite: starting them costs more than most cases. */
export function useWorld(suite: Mocha.Suite, options: WorldOptions = {}): World {
  // Some cases load a page in many widths and check each with axe-core.
  suite.timeout(180_000);
  const world = new World();
  before('a service and a browser', () => world.open(options));
  after(() => world.close());
  afterEach(() => world.closePages());
  return world;
}

export class World {
  #service: TestService | undefined;
  #browser: Browser | undefined;
  #session: StorageState | undefined;
  #projectId: string | undefined;
  readonly #contexts: BrowserContext[] = [];
  /** One page serves all tests: a new one costs as much as three loads of a page. */
  #kept: Page | undefined;
  #isKeptInUse = false;

  async open({ dataDir, hasDemoFleet = false, env = {} }: WorldOptions = {}): Promise<void> {
    const started = hasDemoFleet
      ? startTestService({ env: { GATE_DEMO: '1', ...env } })
      : startTestService({ dataDir: dataDir ?? (await filledDirectory('seeded-fleet', seedFleet)), env });
    const [service, browser] = await Promise.all([started, launchBrowser()]);
    [this.#service, this.#browser] = [service, browser];
    if (hasDemoFleet) {
      await eventually(() => service.output().includes('The demo fleet is filled'));
      this.#projectId = service.demo.fleet_project_id;
    } else if (dataDir === undefined) await pullPolicies(service);
    this.#session = await this.#signIn();
  }

  async close(): Promise<void> {
    await this.closePages();
    await this.#browser?.close();
    await this.#service?.stop();
  }

  get service(): TestService {
    if (this.#service === undefined) throw new Error('The world is not open');
    return this.#service;
  }

  /** The project that the pages are of. */
  get projectId(): string {
    return this.#projectId ?? this.service.project_id;
  }

  /** The path of a page of the project. */
  projectPath(page: string, query: Record<string, string> = {}): string {
    const search = new URLSearchParams(query).toString();
    return `/projects/${this.projectId}/${page}${search === '' ? '' : `?${search}`}`;
  }

  async newPage({
    isSignedIn = true,
    scheme = 'light',
    viewport = DESKTOP,
    timezoneId,
    initScript,
    isFresh = timezoneId !== undefined || initScript !== undefined,
  }: OpenOptions = {}): Promise<OpenPage> {
    const page =
      isFresh || this.#isKeptInUse
        ? await this.#freshPage(timezoneId === undefined ? {} : { timezoneId })
        : await this.#keptPage();
    const context = page.context();
    if (isSignedIn && this.#session !== undefined) await context.addCookies(this.#session.cookies);
    if (initScript !== undefined) await context.addInitScript({ content: initScript });
    await page.setViewportSize(viewport);
    await page.emulateMedia({ colorScheme: scheme });
    const faults: string[] = [];
    page.on('pageerror', (error) => faults.push(`error: ${error.message}`));
    page.on('console', (message) => {
      if (message.type() === 'error')
        faults.push(`${message.text()} ${message.location().url}${this.#lastError()}`);
    });
    return { page, faults };
  }

  /** The newest error that the service logged. */
  #lastError(): string {
    const errors = this.service
      .output()
      .split('\n')
      .filter((line) => line.startsWith('{"level":50'));
    return errors.length === 0 ? '' : ` ${errors.at(-1)}`;
  }

  async closePages(): Promise<void> {
    await Promise.all(this.#contexts.splice(0).map((context) => context.close()));
    const kept = this.#isKeptInUse ? this.#kept : undefined;
    this.#isKeptInUse = false;
    // A page that cannot be cleaned, because it crashed, is replaced.
    if (kept === undefined) return;
    await clean(kept).catch(() => {
      this.#kept = undefined;
      return kept.context().close();
    });
  }

  async #freshPage(options: BrowserContextOptions): Promise<Page> {
    const page = await this.#openPage(options);
    this.#contexts.push(page.context());
    return page;
  }

  async #keptPage(): Promise<Page> {
    if (this.#kept === undefined || this.#kept.isClosed()) this.#kept = await this.#openPage({});
    this.#isKeptInUse = true;
    return this.#kept;
  }

  async #openPage(options: BrowserContextOptions): Promise<Page> {
    if (this.#browser === undefined) throw new Error('The world is not open');
    const context = await this.#browser.newContext({
      baseURL: this.service.url,
      // Chromium would draw the lines of a loading page 60 times a second.
      reducedMotion: 'reduce',
      ...options,
    });
    context.setDefaultTimeout(WAIT_MS_MAX);
    return context.newPage();
  }

  async #signIn(): Promise<StorageState> {
    const { page } = await this.newPage({ isSignedIn: false });
    const answer = await page.request.post('/v1/auth/login', { data: this.service.demo.dashboard });
    if (!answer.ok())
      throw new Error(`The demo account cannot sign in: ${answer.status()} ${await answer.text()}`);
    const state = await page.context().storageState();
    await this.closePages();
    return state;
  }
}

/** Undoes what a test did to a page: storage, interceptions, listeners and permissions. */
async function clean(page: Page): Promise<void> {
  const context = page.context();
  page.removeAllListeners();
  await Promise.all([page.unrouteAll({ behavior: 'ignoreErrors' }), context.unrouteAll()]);
  // A draft that was not saved asks before it is left.
  page.on('dialog', (dialog) => void dialog.accept());
  // Another site would end the process of the page, which costs as much as a load.
  await page.goto('/robots.txt');
  await page.evaluate('localStorage.clear(); sessionStorage.clear()');
  page.removeAllListeners('dialog');
  await Promise.all([context.clearCookies(), context.clearPermissions()]);
}

type AxeViolation = { id: string; help: string; nodes: { target: unknown; failureSummary: string }[] };

/**
 * Rejects unless axe-core finds nothing to complain about, including the colours of the other scheme. With a selector it checks only these
 * parts, if another test checks the rest: a large page takes a second.
 */
export async function expectAccessible(page: Page, parts = 'html'): Promise<void> {
  if (!(await page.evaluate<boolean>("'axe' in window"))) await page.evaluate(axeSource);
  const isDark = await page.evaluate<boolean>("matchMedia('(prefers-color-scheme: dark)').matches");
  const [own, other] = isDark ? (['dark', 'light'] as const) : (['light', 'dark'] as const);
  const found = await violationsOn(page, parts, '');
  await page.emulateMedia({ colorScheme: other });
  found.push(...(await violationsOn(page, parts, "runOnly: ['color-contrast']")));
  await page.emulateMedia({ colorScheme: own });
  expect(found).to.deep.equal([]);
}

async function violationsOn(page: Page, parts: string, options: string) {
  // Elements that change colour slowly are checked last.
  await page.evaluate('new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))');
  await page.evaluate(`Promise.allSettled(document.getAnimations()
    .filter(({ effect }) => effect.getTiming().iterations !== Infinity).map(({ finished }) => finished))`);
  const violations = await page.evaluate<AxeViolation[]>(
    `axe.run(${JSON.stringify(parts)}, { resultTypes: ['violations'], ${options} }).then(({ violations }) => violations)`,
  );
  return violations.map(({ id, help, nodes }) => ({
    id,
    help,
    nodes: nodes
      .slice(0, 4)
      .map(({ target, failureSummary }) => `${JSON.stringify(target)} ${failureSummary}`),
  }));
}

/** Shows another page of the dashboard as a link would, without a load. */
export async function visit(page: Page, path: string): Promise<void> {
  await page.evaluate(
    `history.pushState(null, '', ${JSON.stringify(path)}); dispatchEvent(new PopStateEvent('popstate'))`,
  );
}

/** The content of the address bar, without the host. */
export function addressOf(page: Page): string {
  const { pathname, search } = new URL(page.url());
  return pathname + search;
}
