import { chromium, type Page } from 'playwright-core';

type TraceEvent = { name: string; pid: number; tid: number; tdur?: number; args?: { name?: string } };

/**
 * The longest time that one task kept the page's main thread busy while `work` ran, in milliseconds of its own processor time. Other load
 * on the machine makes no difference.
 */
export async function longestTaskMs(page: Page, work: () => Promise<void>): Promise<number> {
  const browser = page.context().browser();
  if (browser === null || browser.browserType() !== chromium) throw new Error('Only Chromium can be traced');
  await browser.startTracing(page, { categories: ['toplevel', 'devtools.timeline', '__metadata'] });
  await work();
  const trace = JSON.parse((await browser.stopTracing()).toString()) as { traceEvents: TraceEvent[] };
  const isMain = ({ name, args }: TraceEvent) => name === 'thread_name' && args?.name === 'CrRendererMain';
  const mainThreads = new Set(trace.traceEvents.filter(isMain).map(threadOf));
  const tasks = trace.traceEvents.filter(
    (event) => mainThreads.has(threadOf(event)) && /RunTask/.test(event.name) && event.tdur !== undefined,
  );
  if (tasks.length === 0) throw new Error('The trace has no task of the main thread');
  return Math.max(...tasks.map(({ tdur = 0 }) => tdur)) / 1000;
}

function threadOf({ pid, tid }: TraceEvent): string {
  return `${pid}/${tid}`;
}
