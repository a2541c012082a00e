import { useState } from 'preact/hooks';
import { recall, remember } from './remembered.ts';

const THEMES = ['auto', 'light', 'dark'] as const;
type Theme = (typeof THEMES)[number];

function savedTheme(): Theme {
  return THEMES.find((theme) => theme === recall('theme')) ?? 'auto';
}

/** Colours follow the system unless the person chose a theme. */
export function applyTheme(theme: Theme = savedTheme()): void {
  document.documentElement.dataset['theme'] = theme;
}

export function useTheme(): { theme: Theme; next: () => void } {
  const [theme, setTheme] = useState(savedTheme);
  const next = () => {
    const following = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? 'auto';
    remember('theme', following === 'auto' ? undefined : following);
    applyTheme(following);
    setTheme(following);
  };
  return { theme, next };
}
