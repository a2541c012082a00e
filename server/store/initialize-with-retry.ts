import type { Logger } from 'pino';
import { SchemaTooNewError } from './migrate.ts';
import { storeErrorFrom } from './store-error.ts';
import { withTimeout } from './with-timeout.ts';

/** The delay between attempts while the store is unavailable. */
const RETRY_MS = 1000;

type RetryOptions = { logger: Logger; waitMsMax: number | undefined };

/**
 * Runs `prepare` until it succeeds once. Callers share a running attempt, wait at most waitMsMax, and get the last
 * failure for a second.
 */
export function initializeWithRetry(
  prepare: () => Promise<void>,
  { logger, waitMsMax }: RetryOptions,
): () => Promise<void> {
  let state: Promise<void> | undefined;
  let isDone = false;
  const start = () => {
    state = prepare().then(
      () => {
        isDone = true;
        logger.info('The store is ready');
      },
      (error: unknown) => {
        setTimeout(() => (state = undefined), RETRY_MS).unref();
        if (error instanceof SchemaTooNewError) logger.error(error.message);
        throw storeErrorFrom(error);
      },
    );
    state.catch(() => undefined);
    return state;
  };
  return () => {
    if (isDone) return Promise.resolve();
    const running = state ?? start();
    return waitMsMax === undefined ? running : withTimeout(running, waitMsMax);
  };
}

/** Waits for the running attempt this many times as long as a caller would. A store that refuses is not retried. */
export async function waitForSchema(ready: () => Promise<void>, waits: number): Promise<void> {
  for (let waited = 1; waited < waits; waited += 1) await ready().catch(() => undefined);
  await ready();
}
