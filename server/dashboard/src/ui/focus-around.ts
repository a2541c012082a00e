/** The nearest part of the page around an element that can have the focus. */
export function placeAround(element: Element | null): HTMLElement | undefined {
  return element?.parentElement?.closest<HTMLElement>('[tabindex]') ?? undefined;
}
