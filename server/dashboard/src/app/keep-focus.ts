const FOCUSABLE = 'a[href], button, input, select, textarea, [tabindex="0"]';

/**
 * Moves the focus when the element that has it is removed: to the nearest remaining element around it, or to the first one in there that
 * can have the focus. Otherwise, a screen reader would start again at the top of the page.
 */
export function keepFocus(): void {
  /** The focused element and those around it, from the inside out. */
  let path: HTMLElement[] = [];
  addEventListener('focusin', ({ target }) => {
    path = pathOf(target);
  });
  // The focus is also taken from an element that is removed. That one is not connected afterwards.
  addEventListener('focusout', () =>
    queueMicrotask(() => {
      if (path[0]?.isConnected === true && isNowhere()) path = [];
    }),
  );
  new MutationObserver(() => {
    const left = path.find((element) => element.isConnected);
    if (left === undefined || left === path[0] || !isNowhere()) return;
    if (!left.hasAttribute('tabindex') && !focusIn(left)) left.tabIndex = -1;
    if (isNowhere()) left.focus({ preventScroll: true });
  }).observe(document.body, { childList: true, subtree: true });
}

function pathOf(target: EventTarget | null): HTMLElement[] {
  const path: HTMLElement[] = [];
  for (let at = target; at instanceof HTMLElement && at !== document.body; at = at.parentElement)
    path.push(at);
  return path;
}

function isNowhere(): boolean {
  return document.activeElement === document.body;
}

/** False if nothing in there can have the focus. */
function focusIn(place: HTMLElement): boolean {
  const inside = [
    ...place.querySelectorAll<HTMLElement>('main'),
    ...place.querySelectorAll<HTMLElement>(FOCUSABLE),
  ];
  return inside.some((element) => {
    element.focus({ preventScroll: true });
    return document.activeElement === element;
  });
}
