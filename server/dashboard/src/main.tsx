import { render } from 'preact';
import { App } from './app/app.tsx';
import { keepFocus } from './app/keep-focus.ts';
import { followLinks, restoreScroll } from './app/location.ts';
import { pageFrom } from './app/route.ts';
import { applyTheme } from './app/theme.ts';
import { applyZone } from './app/zone.ts';
import { drafts } from './pages/agents/drafts.ts';

applyTheme();
applyZone();
restoreScroll();
keepFocus();
addEventListener('beforeunload', (event) => {
  if (drafts.size > 0) event.preventDefault();
});
followLinks((path) => pageFrom(path) !== undefined);
const root = document.getElementById('app');
if (root === null) throw new Error('The page has no #app');
render(<App />, root);
