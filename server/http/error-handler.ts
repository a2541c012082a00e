import type { ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import { RequestError } from '../errors.ts';
import { StoreError } from '../store/store-error.ts';
import { sendProblem } from './problem.ts';

/**
 * The only place that turns an error into an answer. An unexpected error is a bug: it is logged in full, and the caller gets no details.
 */
export function answerError(error: unknown, { res, logger }: { res: ServerResponse; logger: Logger }): void {
  const problem = problemFrom(error);
  if (problem.code === 'internal') logger.error({ err: error }, 'Unexpected error');
  else if (problem.status === 503)
    logger.warn({ err: problem.cause ?? problem, code: problem.code }, problem.message);
  if (!res.headersSent) sendProblem(res, problem);
  // Part of the answer was sent: only a broken connection shows the caller that it is incomplete.
  else if (!res.writableEnded) res.destroy();
}

/** An error of the service or the store as the problem that a caller sees; anything else is internal. */
export function problemFrom(error: unknown): RequestError {
  if (error instanceof RequestError) return error;
  if (error instanceof StoreError) return new RequestError(error.code, error.message, { cause: error.cause });
  // Express marks faults of the caller, such as an invalid percent-encoding.
  const status = (error as { status?: unknown }).status;
  if (status === 400) return new RequestError('not_found', 'The path is not valid', { cause: error });
  return new RequestError('internal', 'Internal error. See the server log for details', { cause: error });
}
