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

/** The service or its store is away for now: asking again may help. */
export function mayRecover(error: ApiError | undefined): boolean {
  return error !== undefined && (error.status === 503 || error.code === 'unreachable');
}

type Explanation = { title: string; advice: string; action: 'retry' | 'sign-in' | 'account' | 'none' };

/** What an error means for the person in front of it, and what to do about it. */
export function explain(error: ApiError): Explanation {
  switch (error.code) {
    case 'unreachable':
      return {
        title: 'The service cannot be reached',
        advice: 'Check that it runs and that your network is up.',
        action: 'retry',
      };
    case 'unauthenticated':
      return {
        title: 'Sign in to see this',
        advice: 'It is open to members of the project.',
        action: 'sign-in',
      };
    case 'forbidden':
      return {
        title: 'You have no access to this project',
        advice: 'Ask a member to add your account, or sign out and come back with another one.',
        action: 'account',
      };
    case 'store_unavailable':
      return {
        title: 'The store does not answer',
        advice: 'Nothing is lost: records are safe, reads are not possible right now.',
        action: 'retry',
      };
    case 'overloaded':
      return {
        title: 'The service is busy',
        advice: 'Too many reads at once, or this one took too long. Choose a shorter window, or try again.',
        action: 'retry',
      };
    case 'rate_limited':
      return { title: 'Too many attempts', advice: waitAdvice(error.retryAfterSeconds), action: 'none' };
    case 'agent_unknown':
      return {
        title: 'There is no such agent',
        advice: 'It was never registered in this project. Check the name in the address bar.',
        action: 'none',
      };
    case 'not_found':
      return { title: 'There is nothing here', advice: error.message, action: 'none' };
    case 'precondition_failed':
      return {
        title: 'Someone else saved a newer version',
        advice: 'Load it, look at what changed, and save again.',
        action: 'retry',
      };
    case 'token_invalid':
      return {
        title: 'This link no longer works',
        advice: 'It was used already, it is too old, or it is not complete. Ask for a new one.',
        action: 'none',
      };
    case 'internal':
      return {
        title: 'The service met an unexpected error',
        advice: 'It is not yours. Try again; the log of the service tells more.',
        action: 'retry',
      };
    default:
      return { title: error.message, advice: error.errors.map(faultText).join(' '), action: 'none' };
  }
}

function waitAdvice(seconds: number | undefined): string {
  if (seconds === undefined) return 'Wait a while, then try again.';
  return seconds < 90
    ? `Try again in ${seconds} seconds.`
    : `Try again in ${Math.ceil(seconds / 60)} minutes.`;
}

function faultText({ path, message }: PolicyFault): string {
  return `${path === undefined || path === '' ? '' : `${path.replace(/^\//, '')} `}${message}.`;
}
