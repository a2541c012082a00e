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
  const startsAtTop = isOtherPage && !replace && !staysPut;
  if (target !== current)
    history[replace ? 'replaceState' : 'pushState'](startsAtTop ? null : history.state, '', target);
  for (const listener of listeners) listener();
  if (startsAtTop) startAtTop();
}

/** As after a page load. Otherwise, the focus would stay on a link that no longer exists. */
function startAtTop(): void {
  scrollTo(0, 0);
  document.getElementById('content')?.focus({ preventScroll: true });
}

/** Back and Forward restore the scroll position of a page once its content is high enough, unless the person scrolls first. */
export function restoreScroll(): void {
  let observer: ResizeObserver | undefined;
  const stop = () => observer?.disconnect();
  for (const type of ['wheel', 'touchmove', 'keydown', 'pointerdown']) addEventListener(type, stop);
  addEventListener('scrollend', () => history.replaceState({ top: scrollY }, ''));
  addEventListener('popstate', ({ state }: PopStateEvent) => {
    stop();
    const top = (state as { top?: number } | null)?.top ?? 0;
    observer = new ResizeObserver(() => {
      if (document.documentElement.scrollHeight - innerHeight < top) return;
      stop();
      scrollTo(0, top);
    });
    observer.observe(document.body);
  });
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

/** The sign-in page, which leads back to the current page. */
export function signInHref(): string {
  return `/sign-in?${new URLSearchParams({ next: location.pathname + location.search })}`;
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
