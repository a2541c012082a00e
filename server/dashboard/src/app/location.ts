import { useEffect, useState } from 'preact/hooks';
import { type Period, periodFrom } from './period.ts';

type Place = { path: string; query: URLSearchParams };
type NavigateOptions = {
  replace?: boolean;
  /** Keeps scroll position and focus although the path changes. */
  staysPut?: boolean;
};

const listeners = new Set<() => void>();

export function navigate(target: string, { replace = false, staysPut = false }: NavigateOptions = {}): void {
  const current = location.pathname + location.search;
  const isOtherPage = new URL(target, location.href).pathname !== location.pathname;
  if (target !== current) history[replace ? 'replaceState' : 'pushState'](null, '', target);
  for (const listener of listeners) listener();
  if (isOtherPage && !replace && !staysPut) startAtTop();
}

/** As after a page load. Otherwise the focus would stay on a link that no longer exists. */
function startAtTop(): void {
  scrollTo(0, 0);
  document.getElementById('content')?.focus({ preventScroll: true });
}

/** The address bar, which holds the whole state of a view. Renders again when it changes. */
export function usePlace(): Place {
  const [, setCount] = useState(0);
  useEffect(() => {
    const update = () => setCount((count) => count + 1);
    listeners.add(update);
    addEventListener('popstate', update);
    return () => {
      listeners.delete(update);
      removeEventListener('popstate', update);
    };
  }, []);
  return { path: location.pathname, query: new URLSearchParams(location.search) };
}

/** The period in the address bar. */
export function usePeriod(): Period {
  return periodFrom(usePlace().query);
}

/** The current address with changed query parameters. undefined removes one, '' makes it empty, a list repeats it. */
export function hrefWith(
  changes: Record<string, string | readonly string[] | undefined>,
  path = location.pathname,
): string {
  const query = new URLSearchParams(location.search);
  for (const [name, value] of Object.entries(changes)) {
    query.delete(name);
    for (const one of [value].flat()) if (one !== undefined) query.append(name, one);
  }
  return query.size === 0 ? path : `${path}?${query}`;
}

/** Plain clicks on links to dashboard pages navigate without a page load. */
export function followLinks(isOwnPage: (path: string) => boolean): void {
  document.addEventListener('click', (event) => {
    if (event.defaultPrevented || event.button !== 0) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const link = event.target instanceof Element ? event.target.closest('a') : null;
    if (link === null || link.target !== '' || link.hasAttribute('download')) return;
    if (link.origin !== location.origin || !isOwnPage(link.pathname) || link.hash !== '') return;
    event.preventDefault();
    navigate(link.pathname + link.search);
  });
}
