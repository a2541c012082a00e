/** A script for a page: `shift` is the Cumulative Layout Shift (web.dev/cls) so far. */
export const COUNT_SHIFTS = `window.shift = 0; new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) window.shift += entry.value;
}).observe({ type: 'layout-shift', buffered: true })`;
/** More than this is felt. */
export const SHIFT_MAX = 0.05;
