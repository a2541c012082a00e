import type { Send, Sleep } from './send.ts';

/** Spec 6.2: one more try after a retryable answer, whatever its Retry-After says. */
export function retryOnce(send: Send, { waitMs, sleep }: { waitMs: number; sleep: Sleep }): Send {
  return async (body, signal) => {
    const first = await send(body, signal);
    if (first.kind !== 'retryable') return first;
    await sleep(waitMs, signal);
    return send(body, signal);
  };
}
