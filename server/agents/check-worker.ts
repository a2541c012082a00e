import { parentPort, workerData } from 'node:worker_threads';
import { type CheckJob, decideCheck } from './decide-check.ts';

// The thread of one check, started by check-runner.ts.
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
parentPort?.postMessage(decideCheck(workerData as CheckJob));
