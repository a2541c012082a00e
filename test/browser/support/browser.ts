export { startBrowser as launchBrowser } from '../../support/browser.ts';
