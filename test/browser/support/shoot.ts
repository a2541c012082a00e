import { mkdirSync } from 'node:fs';
import type { Page } from 'playwright-core';

const FOLDER = process.env['GATE_TEST_SCREENSHOTS'];

/** Takes a picture for a person to look at, when GATE_TEST_SCREENSHOTS names a folder for them. */
export async function shoot(page: Page, name: string): Promise<void> {
  if (FOLDER === undefined) return;
  mkdirSync(FOLDER, { recursive: true });
  await page.screenshot({ path: `${FOLDER}/${name}.png` });
}
