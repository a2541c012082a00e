import type { ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import { RequestError } from '../errors.ts';
import { sendProblem } from './problem.ts';

/**
 * The one place that turns what was thrown into an answer. An unexpected error is a bug: the log gets all of it,
 * the caller nothing.
 */
export function answerError(error: unknown, { res, logger }: { res: ServerResponse; logger: Logger }): void {
  const problem = problemFrom(error);
  if (problem.code === 'internal') logger.error({ err: error }, 'Unexpected error');
  else if (problem.status === 503)
    logger.warn({ err: problem.cause ?? problem, code: problem.code }, problem.message);
  if (!res.headersSent) sendProblem(res, problem);
  // Half an answer went out: only a broken connection tells the caller that it is not whole.
  else if (!res.writableEnded) res.destroy();
}

function problemFrom(error: unknown): RequestError {
  if (error instanceof RequestError) return error;
  // Express and its router mark what the caller did wrong, such as a %-sequence that is none.
  const status = (error as { status?: unknown }).status;
  if (status === 400) return new RequestError('not_found', 'The path is not valid', { cause: error });
  return new RequestError('internal', 'The service met an error that is not yours. Its log tells more.', {
    cause: error,
  });
}
