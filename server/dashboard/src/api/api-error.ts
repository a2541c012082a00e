import { countText } from '../text/format.ts';
import type { PolicyFault } from './types.ts';

/** A call that failed: the service's problem (RFC 9457), or `unreachable` when there was no answer. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly errors: PolicyFault[];
  readonly retryAfterSeconds: number | undefined;

  constructor(
    problem: { status: number; code: string; detail: string; errors?: PolicyFault[] },
    retryAfterSeconds?: number,
  ) {
    super(problem.detail);
    this.name = 'ApiError';
    this.status = problem.status;
    this.code = problem.code;
    this.errors = problem.errors ?? [];
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** The service or its store is unavailable; a retry may help. */
export function mayRecover(error: ApiError | undefined): boolean {
  return error !== undefined && (error.status === 503 || error.code === 'unreachable');
}

/** The error of a call, or of anything else that failed in its place. */
export function asApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  return new ApiError({ status: 0, code: 'unexpected', detail: String(error) });
}

type Explanation = { title: string; advice: string; action: 'retry' | 'sign-in' | 'account' | 'none' };

const EXPLANATIONS: Record<string, Explanation> = {
  unreachable: {
    title: 'The service cannot be reached',
    advice: 'Check that the service is running and that your network works.',
    action: 'retry',
  },
  unauthenticated: {
    title: 'Sign in to see this',
    advice: 'Only members of the project can see it.',
    action: 'sign-in',
  },
  store_unavailable: {
    title: 'Database unavailable',
    advice: 'Recorded data is safe. Nothing can be read or saved right now.',
    action: 'retry',
  },
  overloaded: {
    title: 'The service is busy',
    advice:
      'Too many calls are running, or this one took too long. Where the page has a period, a shorter one may help.',
    action: 'retry',
  },
  agent_unknown: {
    title: 'Agent not found',
    advice: 'No agent with this name is registered in this project.',
    action: 'none',
  },
  precondition_failed: {
    title: 'Someone else saved a newer version',
    advice: 'Load it, review the changes, and save again.',
    action: 'retry',
  },
  token_invalid: {
    title: 'This link no longer works',
    advice: 'It has been used, has expired, or is incomplete. Request a new one.',
    action: 'none',
  },
  internal: {
    title: 'Unexpected server error',
    advice: 'This is an error of the service. Try again. Its log has details.',
    action: 'retry',
  },
};

/** Explains an error to a person, with what to do about it. */
export function explain(error: ApiError): Explanation {
  if (error.code === 'rate_limited')
    return { title: 'Too many attempts', advice: waitAdvice(error.retryAfterSeconds), action: 'retry' };
  if (error.code === 'forbidden')
    return {
      title: 'You do not have access',
      advice: `${error.message}. Ask an admin of the project, or sign in with another account.`,
      action: 'account',
    };
  if (error.code === 'not_found') return { title: 'Not found', advice: error.message, action: 'none' };
  return (
    EXPLANATIONS[error.code] ?? {
      // The message repeats the first fault.
      title: error.errors.length > 0 ? 'This input is not valid' : error.message,
      advice: error.errors.map(faultText).join(' '),
      action: error.code === 'unexpected' ? 'retry' : 'none',
    }
  );
}

function waitAdvice(seconds: number | undefined): string {
  if (seconds === undefined) return 'Wait a while, then try again.';
  return `Try again in ${seconds < 90 ? countText(seconds, 'second') : countText(Math.ceil(seconds / 60), 'minute')}.`;
}

function faultText({ path, message }: PolicyFault): string {
  return `${path === undefined || path === '' ? '' : `${path.replace(/^\//, '')} `}${message}.`;
}
