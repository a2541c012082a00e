/** How far the service's clock is ahead of this browser's, which may be wrong by hours. */
let aheadMs = 0;

/** The service's time for a time of this browser, as far as its answers have shown it. */
export function serviceTime(browserMs = Date.now()): number {
  return browserMs + aheadMs;
}

/** Learns from an answer's Date header, which has whole seconds. The answer was requested at this time of the browser. */
export function learnTime({ headers }: Response, askedMs: number): void {
  const dateMs = Date.parse(headers.get('Date') ?? '');
  if (Number.isNaN(dateMs)) return;
  // Keeps the known offset while it agrees: times must not jump with every answer.
  aheadMs = Math.min(Math.max(aheadMs, dateMs - Date.now()), dateMs + 1000 - askedMs);
}
