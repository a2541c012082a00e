import { Worker } from 'node:worker_threads';
import { BoundedQueue } from '../bounded-queue.ts';
import { RequestError } from '../errors.ts';
import { READ_SECONDS_MAX, READ_WAIT_MS_MAX } from '../limits.ts';
import type { CheckJob, Decided } from './decide-check.ts';

/** `createJob` is called only when the check starts, so that waiting checks hold no rows. The signal ends its thread. */
export type RunCheck = (createJob: () => Promise<CheckJob>, signal: AbortSignal) => Promise<Decided>;

/** A running check takes a whole CPU. */
const CHECKS_RUNNING_MAX = 2;
const CHECKS_WAITING_MAX = 16;

const WORKER = new URL('./check-worker.ts', import.meta.url);

/**
 * Decides in a thread of its own, because a policy of 64 KiB on a call of 250 KiB takes seconds, which would block the
 * service. Rejects with `overloaded` when too many checks run or one takes too long.
 */
export function createCheckRunner(): RunCheck {
  const checks = new BoundedQueue({
    runningMax: CHECKS_RUNNING_MAX,
    waitingMax: CHECKS_WAITING_MAX,
    waitMsMax: READ_WAIT_MS_MAX,
  });
  return (createJob, signal) => checks.run(async () => decideInThread(await createJob(), signal), signal);
}

async function decideInThread(job: CheckJob, signal: AbortSignal): Promise<Decided> {
  signal.throwIfAborted();
  const worker = new Worker(WORKER, { workerData: job });
  const { promise, resolve, reject } = Promise.withResolvers<Decided>();
  const abort = () => reject(signal.reason as Error);
  const timer = setTimeout(() => reject(tookTooLong()), READ_SECONDS_MAX * 1000);
  signal.addEventListener('abort', abort);
  worker.once('message', resolve).once('error', reject);
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', abort);
    await worker.terminate();
  }
}

function tookTooLong(): RequestError {
  return new RequestError(
    'overloaded',
    `The check took more than ${READ_SECONDS_MAX} s. Try fewer calls, a shorter replay or fewer conditions.`,
  );
}
