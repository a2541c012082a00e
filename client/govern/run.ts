import { copyArguments } from './copy-arguments.ts';
import { jsonText, plainCopy } from '../audit/plain-copy.ts';
import type { InnerGate } from '../audit/gate.ts';
import { decisionText, unreadableCall } from '../policy/language/index.ts';
import type { Decision, PolicyCall, PolicyEngine } from '../policy/language/index.ts';
import { ValueError } from '../errors.ts';
import { ApprovalRequiredError, PolicyDeniedError } from './decision-errors.ts';

/** On whose behalf a run acts. */
export type Caller = {
  role?: string | undefined;
  userId?: string | undefined;
  sessionId?: string | undefined;
};

/** The question to whoever approves calls. */
export type ApprovalRequest = {
  tool: string;
  arguments: unknown;
  role: string;
  reason: string;
  violations: readonly string[];
  hint: Decision['hint'];
  event_id: string;
};

/** Approves with `true`; any other answer refuses. */
export type OnApproval = (request: ApprovalRequest) => boolean | Promise<boolean>;

type RunOptions = {
  agentName: string;
  policy: PolicyEngine;
  currentGate: () => InnerGate;
  caller: Caller;
  onApproval: OnApproval | undefined;
  /** A synchronous run emits no events. */
  isSync: boolean;
};

/** Runs the tool on the arguments that were decided on. */
export type Execute = (args: unknown) => unknown;

/** Returns the arguments for the tool, or throws if they changed since the decision. Call it right before the tool runs. */
export type Admitted = () => unknown;

const BAD_CALL = { ok: false, code: 'bad_call' } as const;

type Decided = { decision: Decision; request: ApprovalRequest };

/** One run of an agent: the policy that it started with, and its caller. */
export class Run {
  readonly #options: RunOptions;

  constructor(options: RunOptions) {
    this.#options = options;
  }

  /** Decides and records the call. Throws on a denial; returns a promise if an approval is needed. */
  admit(tool: string, args: unknown): Promise<Admitted> | Admitted {
    const decided = this.#decide(tool, args);
    if (decided.decision.outcome === 'needs_approval') return this.#approve(decided);
    return () => decided.request.arguments;
  }

  /** Decides the call, then executes it. */
  async call(tool: string, args: unknown, execute: Execute): Promise<unknown> {
    const admitted = this.admit(tool, args);
    return execute((typeof admitted === 'function' ? admitted : await admitted)());
  }

  /** The same for a synchronous run. */
  callSync(tool: string, args: unknown, execute: Execute): unknown {
    const decided = this.#decide(tool, args);
    if (decided.decision.outcome === 'needs_approval') this.#approveSync(decided);
    return refusePromise(execute(decided.request.arguments), `The tool ${tool}`);
  }

  #decide(tool: string, args: unknown): Decided {
    const { policy, currentGate, agentName, caller, isSync } = this.#options;
    const { role = '' } = caller;
    // A caller without types could pass an object here that changes its name after the decision.
    const copied = typeof tool === 'string' ? copyArguments(args) : BAD_CALL;
    const decision = copied.ok
      ? policy.decide({ tool, role, arguments: argumentsOf(copied.value) })
      : (JSON.parse(decisionText(unreadableCall(copied.code))) as Decision);
    const { outcome, reason, violations, hint } = decision;
    const event_id = crypto.randomUUID();
    const called = { tool, arguments: copied.ok ? copied.value : args, role };
    const request = Object.freeze({ ...called, reason, violations, hint, event_id });
    if (!isSync) {
      const { userId: user_id, sessionId: session_id } = caller;
      currentGate().emit({
        ...request,
        agent_name: agentName,
        tool_name: tool,
        outcome,
        user_id,
        session_id,
      });
    }
    if (outcome === 'allow' || outcome === 'needs_approval') return { decision, request };
    throw new PolicyDeniedError(decision, request);
  }

  async #approve({ decision, request }: Decided): Promise<Admitted> {
    const decidedOn = jsonText(plainCopy(request.arguments));
    const answer = await Promise.resolve(this.#ask({ decision, request })).catch((cause: unknown) => {
      throw new ApprovalRequiredError(decision, request, { cause });
    });
    if (answer !== true) throw new ApprovalRequiredError(decision, request);
    return () => {
      refuseChange(decidedOn, { decision, request });
      return request.arguments;
    };
  }

  #approveSync({ decision, request }: Decided): void {
    const decidedOn = jsonText(plainCopy(request.arguments));
    const answer = this.#ask({ decision, request });
    if (refusePromise(answer, 'onApproval') !== true) throw new ApprovalRequiredError(decision, request);
    refuseChange(decidedOn, { decision, request });
  }

  #ask({ decision, request }: Decided): boolean | Promise<boolean> | undefined {
    try {
      return this.#options.onApproval?.(request);
    } catch (cause) {
      throw new ApprovalRequiredError(decision, request, { cause });
    }
  }
}

/** The approver holds the same object and could have changed it. */
function refuseChange(decidedOn: string, { decision, request }: Decided): void {
  if (jsonText(plainCopy(request.arguments)) === decidedOn) return;
  const cause = new ValueError('The arguments changed while the approval was pending');
  throw new ApprovalRequiredError(decision, request, { cause });
}

/** Anything that is not an object is passed on: the engine denies it. */
function argumentsOf(args: unknown): PolicyCall['arguments'] {
  return (args ?? null) as PolicyCall['arguments'];
}

function refusePromise(value: unknown, what: string): unknown {
  const isPromise =
    typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
  if (!isPromise) return value;
  // Otherwise its failure would become an unhandled rejection.
  Promise.resolve(value).catch(() => undefined);
  throw new ValueError(`${what} returned a promise in a synchronous run; use run instead of runSync`);
}
