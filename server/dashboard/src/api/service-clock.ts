/** How far the service's clock is ahead of this browser's, which may be wrong by hours. */
let aheadMs = 0;

/** The service's time at a time of this browser, as far as its answers have told it. */
export function serviceTime(browserMs = Date.now()): number {
  return browserMs + aheadMs;
}

/** Learns from the Date header of an answer, which has whole seconds, that was asked for at this time of the browser. */
export function learnTime({ headers }: Response, askedMs: number): void {
  const dateMs = Date.parse(headers.get('Date') ?? '');
  if (Number.isNaN(dateMs)) return;
  // What is known stays while it agrees: times must not jump with every answer.
  aheadMs = Math.min(Math.max(aheadMs, dateMs - Date.now()), dateMs + 1000 - askedMs);
}
