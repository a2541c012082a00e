import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { expect } from 'chai';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { startTestService, type TestService } from '../../support/service.ts';
import { eventually } from '../../support/eventually.ts';
import { launchBrowser } from './browser.ts';
import { seedFleet } from './seed.ts';

type StorageState = Awaited<ReturnType<BrowserContext['storageState']>>;
type OpenOptions = {
  isSignedIn?: boolean;
  scheme?: 'light' | 'dark';
  viewport?: { width: number; height: number };
  timezoneId?: string;
  initScript?: string;
};

/** A page, and everything that the browser complained about on it. */
export type OpenPage = { page: Page; faults: string[] };

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const DESKTOP = { width: 1360, height: 860 };
const WAIT_MS_MAX = 60_000;

/** A small fleet in a store of its own, the demo fleet, or a store that was filled before. */
type WorldOptions = { dataDir?: string; hasDemoFleet?: boolean };

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

  async open({ dataDir, hasDemoFleet = false }: WorldOptions = {}): Promise<void> {
    const started = startTestService({
      ...(dataDir === undefined ? {} : { dataDir }),
      ...(hasDemoFleet ? { env: { GATE_DEMO: '1' } } : {}),
    });
    const [service, browser] = await Promise.all([started, launchBrowser()]);
    [this.#service, this.#browser] = [service, browser];
    if (hasDemoFleet) {
      await eventually(() => service.output().includes('The demo fleet is filled') || undefined);
      this.#projectId = service.demo.fleet_project_id;
    } else if (dataDir === undefined) await seedFleet(service);
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
  }: OpenOptions = {}): Promise<OpenPage> {
    if (this.#browser === undefined) throw new Error('The world is not open');
    const context = await this.#browser.newContext({
      baseURL: this.service.url,
      colorScheme: scheme,
      viewport,
      acceptDownloads: true,
      ...(timezoneId === undefined ? {} : { timezoneId }),
      ...(isSignedIn && this.#session !== undefined ? { storageState: this.#session } : {}),
    });
    this.#contexts.push(context);
    context.setDefaultTimeout(WAIT_MS_MAX);
    if (initScript !== undefined) await context.addInitScript({ content: initScript });
    const page = await context.newPage();
    const faults: string[] = [];
    page.on('pageerror', (error) => faults.push(`error: ${error.message}`));
    page.on('console', (message) => {
      if (message.type() === 'error') faults.push(message.text());
    });
    return { page, faults };
  }

  async closePages(): Promise<void> {
    await Promise.all(this.#contexts.splice(0).map((context) => context.close()));
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

type AxeViolation = { id: string; help: string; nodes: { target: unknown; failureSummary: string }[] };

/** Rejects unless axe-core finds nothing to complain about. */
export async function expectAccessible(page: Page): Promise<void> {
  await page.evaluate(axeSource);
  const violations = await page.evaluate<AxeViolation[]>(
    'axe.run(document).then(({ violations }) => violations)',
  );
  const found = violations.map(({ id, help, nodes }) => ({
    id,
    help,
    nodes: nodes
      .slice(0, 4)
      .map(({ target, failureSummary }) => `${JSON.stringify(target)} ${failureSummary}`),
  }));
  expect(found).to.deep.equal([]);
}

/** What the address bar shows, without the host. */
export function addressOf(page: Page): string {
  const { pathname, search } = new URL(page.url());
  return pathname + search;
}
