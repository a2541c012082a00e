import { accessSync } from 'node:fs';
import { chromium, type Browser } from 'playwright-core';

const PATHS = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
];

const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** The installed Chromium or Chrome, headless; says what to install where there is none. */
export function startBrowser(): Promise<Browser> {
  const executablePath = PATHS.find(isThere);
  if (executablePath === undefined) {
    throw new Error('The browser tests need Chromium or Chrome; on Debian: apt-get install chromium');
  }
  return chromium.launch({ executablePath, args: FLAGS, headless: true });
}

function isThere(path: string): boolean {
  try {
    accessSync(path);
    return true;
  } catch {
    // Not here; the next place is asked.
    return false;
  }
}
