import type { Decision } from '../policy/language/index.ts';

/** The call that was decided, and under which event it was recorded. */
type DecidedCall = { tool: string; event_id: string };

/** The policy says no; the tool did not run. */
export class PolicyDeniedError extends Error {
  override readonly name = 'PolicyDeniedError';
  readonly error_type = 'policy_denied';
  readonly tool: string;
  readonly event_id: string;
  readonly reason: string;
  readonly violations: readonly string[];
  readonly hint: Decision['hint'];

  constructor(decision: Decision, { tool, event_id }: DecidedCall) {
    super(`${tool} is denied: ${decision.reason}`);
    this.tool = tool;
    this.event_id = event_id;
    this.reason = decision.reason;
    this.violations = decision.violations;
    this.hint = decision.hint;
  }
}

/** The policy asks for an approval that was not given; the tool did not run. */
export class ApprovalRequiredError extends Error {
  override readonly name = 'ApprovalRequiredError';
  readonly error_type = 'approval_required';
  readonly tool: string;
  readonly event_id: string;
  readonly reason: string;
  readonly violations: readonly string[];
  readonly hint: Decision['hint'];

  constructor(decision: Decision, { tool, event_id }: DecidedCall, options?: ErrorOptions) {
    super(`${tool} needs approval: ${decision.reason}`, options);
    this.tool = tool;
    this.event_id = event_id;
    this.reason = decision.reason;
    this.violations = decision.violations;
    this.hint = decision.hint;
  }
}
