import { expect } from 'chai';
import { layoutShiftOf, SHIFT_MAX } from './support/layout-shift.ts';
import { longestTaskMs } from './support/longest-task.ts';
import { PROJECT_PAGES } from './support/project-pages.ts';
import { useWorld } from './support/world.ts';

const FIRST_PAINT_MS_MAX = 1000;
const BLOCKED_MS_MAX = 100;
/** Script and styles of the first page, compressed with Brotli. */
const FIRST_PAGE_BYTES_MAX = 70 * 1024;
/** Other work on the machine only adds to a time: one quick attempt shows what the dashboard needs. */
const TRIES_MAX = 8;

describe('the speed of the dashboard in a browser', function () {
  const world = useWorld(this);
  it('paints Overview within a second and never blocks longer than 100 ms', async () => {
    const tries: { paintMs: number; longestMs: number }[] = [];
    const isQuick = ({ paintMs, longestMs }: (typeof tries)[number]) =>
      paintMs < FIRST_PAINT_MS_MAX && longestMs < BLOCKED_MS_MAX;
    while (!tries.some(isQuick) && tries.length < TRIES_MAX) {
      const { page } = await world.newPage({ isFresh: true });
      const longestMs = await longestTaskMs(page, async () => {
        await page.goto(world.projectPath('overview'));
        await page.locator('.bar-row').first().waitFor();
      });
      const paint = 'performance.getEntriesByName("first-contentful-paint")[0].startTime';
      tries.push({ paintMs: await page.evaluate<number>(paint), longestMs });
    }
    expect(tries.some(isQuick), JSON.stringify(tries)).to.equal(true);
  });

  it('moves nothing on any page while it loads on a phone', async () => {
    const { page } = await world.newPage({ viewport: { width: 390, height: 800 } });
    // The start page opens the project.
    for (const path of ['/', ...Object.values(PROJECT_PAGES).map((name) => world.projectPath(name))]) {
      await page.goto(path);
      await page.locator('.nav').waitFor();
      await page.waitForLoadState('networkidle');
      expect(await layoutShiftOf(page), path).to.be.below(SHIFT_MAX);
    }
  });

  it('loads under 70 KB for the first page, and charts and editor only if they are needed', async () => {
    const html = await (await fetch(`${world.service.url}/`)).text();
    const files = [...html.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, path = '']) => path);
    let bytes = 0;
    for (const path of files) {
      const answer = await fetch(world.service.url + path, { headers: { 'Accept-Encoding': 'br' } });
      bytes += Number(answer.headers.get('Content-Length'));
      expect(answer.headers.get('Cache-Control')).to.include('immutable');
      expect(answer.headers.get('Content-Encoding')).to.equal('br');
      await answer.arrayBuffer();
    }
    expect(files.length).to.be.above(1);
    expect(bytes).to.be.below(FIRST_PAGE_BYTES_MAX);

    const { page } = await world.newPage({ isFresh: true });
    const scripts: string[] = [];
    page.on('request', (request) => scripts.push(request.url()));
    const lazy = () =>
      ['charts', 'create-editor'].filter((name) => scripts.some((url) => url.includes(name)));
    await page.goto(world.projectPath('keys'));
    await page.getByText('Create key').first().waitFor();
    expect(lazy()).to.deep.equal([]);
    await page.goto(world.projectPath('overview'));
    await page.locator('.chart-plot').first().waitFor();
    expect(lazy()).to.deep.equal(['charts']);
  });
});
