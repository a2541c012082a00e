import { ERROR_TYPES, type Decision } from '../policy/language/index.ts';

type DecidedCall = { tool: string; event_id: string };

class DecisionError extends Error {
  readonly tool: string;
  /** Of the event that recorded the decision. */
  readonly event_id: string;
  readonly reason: string;
  readonly violations: readonly string[];
  readonly hint: Decision['hint'];

  constructor(message: string, { reason, violations, hint }: Decision, options: DecidedCall & ErrorOptions) {
    super(`${options.tool} ${message}: ${reason}`, 'cause' in options ? { cause: options.cause } : undefined);
    this.tool = options.tool;
    this.event_id = options.event_id;
    this.reason = reason;
    this.violations = violations;
    this.hint = hint;
  }
}

/** The policy denies the call; the tool did not run. */
export class PolicyDeniedError extends DecisionError {
  override readonly name = 'PolicyDeniedError';
  readonly error_type = ERROR_TYPES.deny;

  constructor(decision: Decision, call: DecidedCall) {
    super('is denied', decision, { tool: call.tool, event_id: call.event_id });
  }
}

/** The call needs an approval that was not given; the tool did not run. */
export class ApprovalRequiredError extends DecisionError {
  override readonly name = 'ApprovalRequiredError';
  readonly error_type = ERROR_TYPES.needs_approval;

  constructor(decision: Decision, { tool, event_id }: DecidedCall, options: ErrorOptions = {}) {
    super('needs approval', decision, { tool, event_id, ...options });
  }
}
