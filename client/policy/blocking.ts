import { createSyncFn } from 'synckit';
import type { Loaded, LoadRequest } from './load-local.ts';
import { PolicyError } from '../errors.ts';
import type { PullRequest, PullResult } from './pull.ts';

/** What the worker thread is asked, and what it answers: errors as data, because a class does not survive the way. */
export type Asked = { kind: 'pull'; request: PullRequest } | { kind: 'load'; request: LoadRequest };
export type Answered =
  | { kind: 'done'; value: PullResult | Loaded }
  | { kind: 'failed'; code: string; message: string; status: number | undefined };

type Worker = (asked: Asked) => Promise<Answered>;

/** Pulls and blocks the caller until it is done. */
export function pullBlocking(request: PullRequest): PullResult {
  return ask({ kind: 'pull', request }) as PullResult;
}

/** Loads a local override and blocks the caller until it is done. */
export function loadBlocking(request: LoadRequest): Loaded {
  return ask({ kind: 'load', request }) as Loaded;
}

function ask(asked: Asked): PullResult | Loaded {
  // The worker sits beside this file, under whichever extension this file runs.
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  const blocking = createSyncFn<Worker>(new URL(`./blocking-worker.${extension}`, import.meta.url));
  const answered = blocking(asked);
  if (answered.kind === 'done') return answered.value;
  const { code, message, status } = answered;
  throw new PolicyError(code, message, status === undefined ? {} : { status });
}
