import type { Page } from 'playwright-core';

/** More than this is noticeable. */
export const SHIFT_MAX = 0.05;

/** The Cumulative Layout Shift (web.dev/cls) of the page so far. */
export function layoutShiftOf(page: Page): Promise<number> {
  return page.evaluate<number>(`(() => {
    const observer = new PerformanceObserver(() => undefined);
    observer.observe({ type: 'layout-shift', buffered: true });
    return observer.takeRecords().reduce((sum, { value }) => sum + value, 0);
  })()`);
}
