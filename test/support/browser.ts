import { chromium, type Browser } from 'playwright-core';
import { findChromium } from './find-chromium.ts';

const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** The installed Chromium or Chrome, headless; says what to install if there is none. */
export function startBrowser(): Promise<Browser> {
  const executablePath = findChromium();
  if (executablePath === undefined) {
    throw new Error('The browser tests need Chromium or Chrome; on Debian: apt-get install chromium');
  }
  return chromium.launch({ executablePath, args: FLAGS, headless: true });
}
