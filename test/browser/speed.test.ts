import { expect } from 'chai';
import { longestTaskMs } from './support/longest-task.ts';
import { useWorld } from './support/world.ts';

const FIRST_PAINT_MS_MAX = 1000;
const BLOCKED_MS_MAX = 100;
const FIRST_PAGE_BYTES_MAX = 300 * 1024;
/** Other work on the machine only ever adds to a time: one try that is quick shows what the dashboard needs. */
const TRIES_MAX = 8;

/** Cumulative Layout Shift (web.dev/cls). */
const SHIFT_MAX = 0.05;
const SHIFTS = `window.shift = 0; new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) window.shift += entry.value;
}).observe({ type: 'layout-shift', buffered: true })`;

describe('the speed of the dashboard in a browser', function () {
  const world = useWorld(this);
  it('paints Overview within a second and never blocks longer than 100 ms', async () => {
    const tries: { paintMs: number; longestMs: number }[] = [];
    const isQuick = ({ paintMs, longestMs }: (typeof tries)[number]) =>
      paintMs < FIRST_PAINT_MS_MAX && longestMs < BLOCKED_MS_MAX;
    while (!tries.some(isQuick) && tries.length < TRIES_MAX) {
      const { page } = await world.newPage();
      const longestMs = await longestTaskMs(page, async () => {
        await page.goto(world.projectPath('overview'));
        await page.locator('.bar-row').first().waitFor();
      });
      const paint = 'performance.getEntriesByName("first-contentful-paint")[0].startTime';
      tries.push({ paintMs: await page.evaluate<number>(paint), longestMs });
    }
    expect(tries.some(isQuick), JSON.stringify(tries)).to.equal(true);
  });

  it('does not move on Decisions while it loads', async () => {
    for (const viewport of [
      { width: 1360, height: 860 },
      { width: 390, height: 800 },
    ]) {
      const { page } = await world.newPage({ viewport });
      await page.addInitScript(SHIFTS);
      await page.goto(world.projectPath('decisions'));
      await page.locator('.decision-row').first().waitFor();
      await page.waitForLoadState('networkidle');
      expect(await page.evaluate('window.shift')).to.be.below(SHIFT_MAX);
    }
  });

  it('loads under 300 KB for the first page, compressed, and the editor only where it is needed', async () => {
    const html = await (await fetch(`${world.service.url}/`)).text();
    const files = [...html.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, path = '']) => path);
    let bytes = 0;
    for (const path of files) {
      const answer = await fetch(world.service.url + path, { headers: { 'Accept-Encoding': 'gzip' } });
      bytes += Number(answer.headers.get('Content-Length'));
      expect(answer.headers.get('Cache-Control')).to.include('immutable');
      await answer.arrayBuffer();
    }
    expect(files.length).to.be.above(1);
    expect(bytes).to.be.below(FIRST_PAGE_BYTES_MAX);

    const { page } = await world.newPage();
    const scripts: string[] = [];
    page.on('request', (request) => scripts.push(request.url()));
    await page.goto(world.projectPath('overview'));
    await page.getByText('Decisions over time').waitFor();
    expect(scripts.filter((url) => url.includes('create-editor'))).to.deep.equal([]);
  });
});
