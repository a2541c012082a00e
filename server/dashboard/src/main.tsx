import { render } from 'preact';
import { App } from './app/app.tsx';
import { followLinks } from './app/location.ts';
import { pageFrom } from './app/route.ts';
import { applyTheme } from './app/theme.ts';
import { applyZone } from './app/zone.ts';

applyTheme();
applyZone();
followLinks((path) => pageFrom(path) !== undefined);
const root = document.getElementById('app');
if (root === null) throw new Error('The page has no #app');
render(<App />, root);
