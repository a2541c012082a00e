/** Every error code with its HTTP status and its title. */
export const PROBLEMS = {
  body_invalid: { status: 422, title: 'Invalid request body' },
  query_invalid: { status: 422, title: 'Invalid query parameter' },
  window_invalid: { status: 422, title: 'Invalid window' },
  policy_invalid: { status: 422, title: 'Invalid policy' },
  row_rejected: { status: 422, title: 'Record rejected by the store' },
  occurred_at_out_of_range: { status: 400, title: 'occurred_at out of range' },
  token_invalid: { status: 400, title: 'Invalid or expired token' },
  unauthenticated: { status: 401, title: 'Unauthenticated' },
  forbidden: { status: 403, title: 'Forbidden' },
  agent_unknown: { status: 404, title: 'Agent not found' },
  not_found: { status: 404, title: 'Not found' },
  method_not_allowed: { status: 405, title: 'Method not allowed' },
  request_timeout: { status: 408, title: 'Request timeout' },
  conflict: { status: 409, title: 'Conflict' },
  proof_pending: { status: 409, title: 'Not in the log yet' },
  precondition_failed: { status: 412, title: 'Precondition failed' },
  arguments_too_large: { status: 413, title: 'arguments too large' },
  hint_too_large: { status: 413, title: 'hint too large' },
  body_too_large: { status: 413, title: 'Request body too large' },
  batch_too_large: { status: 413, title: 'Batch too large' },
  rate_limited: { status: 429, title: 'Too many attempts' },
  headers_too_large: { status: 431, title: 'Request headers too large' },
  request_invalid: { status: 400, title: 'Invalid HTTP request' },
  internal: { status: 500, title: 'Internal error' },
  store_unavailable: { status: 503, title: 'Store unavailable' },
  provider_unavailable: { status: 503, title: 'Single sign-on provider unavailable' },
  log_key_mismatch: { status: 503, title: 'Log signed by another key' },
  overloaded: { status: 503, title: 'Service overloaded' },
} as const;

export type ProblemCode = keyof typeof PROBLEMS;

/** One fault in a request: where it is and what would be right. */
export type Fault = { path?: string; message: string; line?: number; column?: number };

type RequestErrorOptions = { errors?: Fault[]; cause?: unknown; headers?: Record<string, string> };

/** An expected failure of a request. Its code determines the status; its message is for the caller. */
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
