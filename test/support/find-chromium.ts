import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

export const HEADLESS = 'chromium-headless-shell';
/** Its headless build comes first: a page costs it a third of the processor time. */
const COMMANDS = [
  HEADLESS,
  'chromium',
  'chromium-browser',
  'google-chrome',
  'google-chrome-stable',
  'chrome',
];
/** Where it is though no PATH says so. */
const PATHS = [
  ...COMMANDS.map((command) => join('/usr/bin', command)),
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
];

/** The path of the installed Chromium or Chrome. Without packages: it is asked before anything is installed. */
export function findChromium(): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  const onPath = folders.flatMap((folder) => COMMANDS.map((command) => join(folder, command)));
  return [...PATHS, ...onPath].find((path) => existsSync(path));
}
