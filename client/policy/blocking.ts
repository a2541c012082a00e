import { createRequire } from 'node:module';
import type { Loaded, LoadRequest } from './load-local.ts';
import { messageOf, PolicyError, type PolicyErrorCode } from '../errors.ts';
import type { PullRequest, PullResult } from './pull.ts';

/** The messages to and from the worker thread. Errors are data, because an instance of a class cannot be sent. */
export type Asked = { kind: 'pull'; request: PullRequest } | { kind: 'load'; request: LoadRequest };
export type Answered =
  | { kind: 'done'; value: PullResult | Loaded }
  | { kind: 'failed'; code: PolicyErrorCode; message: string; status: number | undefined };

type Worker = (asked: Asked) => Promise<Answered>;

export function pullBlocking(request: PullRequest): PullResult {
  return ask({ kind: 'pull', request }) as PullResult;
}

export function loadBlocking(request: LoadRequest): Loaded {
  return ask({ kind: 'load', request }) as Loaded;
}

function ask(asked: Asked): PullResult | Loaded {
  const answered = askWorker(asked);
  if (answered.kind === 'done') return answered.value;
  const { code, message, status } = answered;
  throw new PolicyError(code, message, status === undefined ? {} : { status });
}

function askWorker(asked: Asked): Answered {
  try {
    // The worker has the same extension as this file: .ts from source, .js when built. In a bundle of CommonJS there is no URL.
    const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
    const require = createRequire(import.meta.url);
    // Throws if the file is missing: Bun would wait for it forever, and Deno would end the process.
    const worker = require.resolve(`./blocking-worker.${extension}`);
    // Loaded here, because few programs block.
    const { createSyncFn } = require('synckit') as typeof import('synckit');
    return createSyncFn<Worker>(worker)(asked);
  } catch (cause) {
    const message = `The worker thread of a blocking refresh does not run (in a bundle, leave @gatehouse/client external): ${messageOf(cause)}`;
    throw new PolicyError('worker_unavailable', message, { cause });
  }
}
