import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

const PATHS = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
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

/** The installed Chromium or Chrome, headless. */
export function launchBrowser(): Promise<Browser> {
  const executablePath = PATHS.find(existsSync);
  if (executablePath === undefined)
    throw new Error('No Chromium found. On Debian or Ubuntu: sudo apt-get install chromium');
  return chromium.launch({ executablePath, args: FLAGS });
}
