// Measures each page of a project with 200,000 decisions: the longest task of the main thread, and how much the layout moves.
import { layoutShiftOf } from './support/layout-shift.ts';
import { filledStore } from './support/filled-store.ts';
import { longestTaskMs } from './support/longest-task.ts';
import { PROJECT_PAGES } from './support/project-pages.ts';
import { World } from './support/world.ts';

const ROWS = 200_000;
const LOADS = 3;
const WIDTHS = { desktop: { width: 1360, height: 860 }, phone: { width: 390, height: 844 } };

const world = new World();
// The service's process alone does not keep this one waiting for its end.
const awake = setInterval(() => undefined, 1000);
try {
  await world.open({ dataDir: filledStore(ROWS) });
  const rows = [];
  for (const [width, viewport] of Object.entries(WIDTHS))
    for (const [name, path] of Object.entries(PROJECT_PAGES))
      rows.push(await measured({ name, path, width, viewport }));
  console.table(rows);
} finally {
  await world.close();
  clearInterval(awake);
}
process.exit(0);

type Measured = { name: string; path: string; width: string; viewport: { width: number; height: number } };

/** The worst of several loads in a new browser profile. */
async function measured({ name, path, width, viewport }: Measured) {
  const tasks: number[] = [];
  const shifts: number[] = [];
  for (let load = 0; load < LOADS; load += 1) {
    const { page } = await world.newPage({ viewport, isFresh: true });
    const longest = await longestTaskMs(page, async () => {
      await page.goto(world.projectPath(path));
      await page.waitForLoadState('networkidle');
    });
    tasks.push(longest);
    shifts.push(await layoutShiftOf(page));
    await world.closePages();
  }
  return {
    page: name,
    width,
    'longest task, ms': Math.max(...tasks).toFixed(0),
    CLS: Math.max(...shifts).toFixed(3),
  };
}
