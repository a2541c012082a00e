import { mkdirSync } from 'node:fs';
import type { Page } from 'playwright-core';

const FOLDER = process.env['GATE_TEST_SCREENSHOTS'];

/** Takes pictures for a person to look at, in light and dark, when GATE_TEST_SCREENSHOTS names a folder for them. */
export async function shoot(page: Page, name: string): Promise<void> {
  if (FOLDER === undefined) return;
  mkdirSync(FOLDER, { recursive: true });
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme });
    await page.screenshot({ path: `${FOLDER}/${name}-${colorScheme}.png` });
  }
}
