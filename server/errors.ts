/** Every error a caller can get: its code, its HTTP status and its title. The only place where they meet. */
export const PROBLEMS = {
  body_invalid: { status: 422, title: 'The request body is not valid' },
  query_invalid: { status: 422, title: 'A query parameter is not valid' },
  window_invalid: { status: 422, title: 'The window is not one of 24h, 7d, 30d, 90d' },
  policy_invalid: { status: 422, title: 'The policy is not valid' },
  row_rejected: { status: 422, title: 'The store refused this record' },
  occurred_at_out_of_range: { status: 400, title: 'occurred_at is out of range' },
  token_invalid: { status: 400, title: 'The token is unknown, used or expired' },
  unauthenticated: { status: 401, title: 'A valid credential is required' },
  forbidden: { status: 403, title: 'This credential may not do that' },
  agent_unknown: { status: 404, title: 'There is no such agent' },
  not_found: { status: 404, title: 'There is nothing here' },
  method_not_allowed: { status: 405, title: 'This method is not allowed here' },
  request_timeout: { status: 408, title: 'The request did not arrive in time' },
  conflict: { status: 409, title: 'That is already taken' },
  precondition_failed: { status: 412, title: 'If-Match does not name the current version' },
  arguments_too_large: { status: 413, title: 'arguments is too large' },
  hint_too_large: { status: 413, title: 'hint is too large' },
  body_too_large: { status: 413, title: 'The request body is too large' },
  rate_limited: { status: 429, title: 'Too many attempts' },
  headers_too_large: { status: 431, title: 'The request headers are too large' },
  request_invalid: { status: 400, title: 'The request is not valid HTTP' },
  internal: { status: 500, title: 'Something went wrong in the service' },
  store_unavailable: { status: 503, title: 'The store is not available' },
  overloaded: { status: 503, title: 'The service is overloaded' },
} as const;

export type ProblemCode = keyof typeof PROBLEMS;

/** One fault inside a request: where it is and what would be right. */
export type Fault = { path?: string; message: string; line?: number; column?: number };

type RequestErrorOptions = { errors?: Fault[]; cause?: unknown; headers?: Record<string, string> };

/** An expected failure of a request. Its code fixes the status; its message is for the caller. */
export class RequestError extends Error {
  readonly code: ProblemCode;
  readonly errors: Fault[] | undefined;
  readonly headers: Record<string, string>;

  constructor(code: ProblemCode, detail: string, { errors, cause, headers }: RequestErrorOptions = {}) {
    super(detail, cause === undefined ? undefined : { cause });
    this.name = 'RequestError';
    this.code = code;
    this.errors = errors;
    this.headers = headers ?? {};
  }

  get status(): number {
    return PROBLEMS[this.code].status;
  }
}
