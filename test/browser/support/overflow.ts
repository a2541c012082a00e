import type { Page } from 'playwright-core';

/** By how much the page is wider than a window of that width. */
export async function overflowAt(page: Page, width: number): Promise<number> {
  const before = page.viewportSize();
  await page.setViewportSize({ width, height: 800 });
  const overflow = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
  if (before !== null) await page.setViewportSize(before);
  return overflow;
}
