import { ERROR_TYPES, type Decision } from '../policy/language/decision.ts';

type DecidedCall = { tool: string; event_id: string };

/** The parts of a decision that the model and the log get. */
type Told = { reason: string; violations: readonly string[]; hint: Decision['hint'] };

/** The call must not run; the policy's decision explains why. */
export abstract class DecisionError extends Error {
  abstract readonly error_type: (typeof ERROR_TYPES)[keyof typeof ERROR_TYPES];
  readonly tool: string;
  /** Of the event that recorded the decision. */
  readonly event_id: string;
  readonly reason: string;
  readonly violations: readonly string[];
  readonly hint: Decision['hint'];
  #isElaborate = false;

  constructor(message: string, { reason, violations, hint }: Told, options: DecidedCall & ErrorOptions) {
    // A caller without types may pass a name that has no text, such as a symbol.
    const name = typeof options.tool === 'string' ? options.tool : 'The call';
    super(`${name} ${message}: ${reason}`, 'cause' in options ? { cause: options.cause } : undefined);
    this.tool = options.tool;
    this.event_id = options.event_id;
    this.reason = reason;
    this.violations = violations;
    this.hint = hint;
  }

  /** The text that most frameworks give the model when a tool throws: why the call did not run, and what to do instead. */
  override toString(): string {
    return this.#isElaborate ? super.toString() : `${super.toString()}\n${this.#details()}`;
  }

  /** The same in the message, for frameworks that give the model nothing else. */
  elaborate(): this {
    if (!this.#isElaborate) this.message += `\n${this.#details()}`;
    this.#isElaborate = true;
    return this;
  }

  #details(): string {
    const { reason, violations, hint } = this;
    return JSON.stringify({ reason, violations, hint });
  }
}

/** The policy denies the call; the tool did not run. */
export class PolicyDeniedError extends DecisionError {
  override readonly name = 'PolicyDeniedError';
  readonly error_type = ERROR_TYPES.deny;

  constructor(decision: Told, call: DecidedCall) {
    super('is denied', decision, { tool: call.tool, event_id: call.event_id });
  }
}

const FAILURES = {
  no_approver: 'needs approval, but no approver is configured',
  refused: 'needs approval, which was refused',
  timed_out: 'needs approval, which did not come in time',
  cancelled: 'needs approval, and was cancelled before it came',
  failed: 'needs approval, and asking for it failed',
  arguments_changed: 'needs approval, and its arguments changed meanwhile',
} as const;

/** Why a call that needs approval has none. */
export type ApprovalFailure = keyof typeof FAILURES;

/** The call needs an approval that was not given; `approval` explains why. The tool did not run. */
export class ApprovalRequiredError extends DecisionError {
  override readonly name = 'ApprovalRequiredError';
  readonly error_type = ERROR_TYPES.needs_approval;
  readonly approval: ApprovalFailure;

  constructor(
    decision: Told,
    { tool, event_id }: DecidedCall,
    { approval, ...cause }: ErrorOptions & { approval: ApprovalFailure },
  ) {
    super(FAILURES[approval], decision, { tool, event_id, ...cause });
    this.approval = approval;
  }
}
