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

/** What a person, or whoever decides for one, is asked. */
export type ApprovalRequest = {
  tool: string;
  arguments: unknown;
  role: string;
  reason: string;
  violations: readonly string[];
  hint: Decision['hint'];
  event_id: string;
};

/** Says yes with true; everything else is a no. */
export type OnApproval = (request: ApprovalRequest) => boolean | Promise<boolean>;

type RunOptions = {
  agentName: string;
  policy: PolicyEngine;
  gate: InnerGate;
  caller: Caller;
  onApproval: OnApproval | undefined;
  /** A synchronous run cannot emit (spec 6.2). */
  isSync: boolean;
};

/** Runs a tool on the arguments that were decided on; any others are none of its business. */
export type Execute = (args: unknown) => unknown;

/**
 * The arguments that the tool gets: those that were decided on. Throws when they have been changed; called right before the
 * tool runs, with no await between.
 */
export type Admitted = () => unknown;

const BAD_CALL = { ok: false, code: 'bad_call' } as const;

type Decided = { decision: Decision; request: ApprovalRequest };

/** One run of an agent: the policy it started with, and who it acts for. */
export class Run {
  readonly #options: RunOptions;

  constructor(options: RunOptions) {
    this.#options = options;
  }

  get caller(): Caller {
    return this.#options.caller;
  }

  /** Decides and records the call: throws, asks (then a promise says how that went), or lets it through at once. */
  admit(tool: string, args: unknown): Promise<Admitted> | Admitted {
    const decided = this.#decide(tool, args);
    if (decided.decision.outcome === 'needs_approval') return this.#approve(decided);
    return () => decided.request.arguments;
  }

  /** Admits the call and then executes it. */
  async call(tool: string, args: unknown, execute: Execute): Promise<unknown> {
    const admitted = this.admit(tool, args);
    return execute((typeof admitted === 'function' ? admitted : await admitted)());
  }

  /** The same for a synchronous run, where nothing can be waited for. */
  callSync(tool: string, args: unknown, execute: Execute): unknown {
    const decided = this.#decide(tool, args);
    if (decided.decision.outcome === 'needs_approval') this.#approveSync(decided);
    return refusePromise(execute(decided.request.arguments), `The tool ${tool}`);
  }

  #decide(tool: string, args: unknown): Decided {
    const { policy, gate, agentName, caller, isSync } = this.#options;
    const { role = '' } = caller;
    // Whoever calls without types: a tool that is no text could be another one when it is asked again.
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
      gate.emit({ ...request, agent_name: agentName, tool_name: tool, outcome, user_id, session_id });
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

/** The yes was to other arguments than the tool would get: whoever was asked changed them meanwhile. */
function refuseChange(decidedOn: string, { decision, request }: Decided): void {
  if (jsonText(plainCopy(request.arguments)) === decidedOn) return;
  const cause = new ValueError('The arguments changed while the approval was pending');
  throw new ApprovalRequiredError(decision, request, { cause });
}

/** What is no object is passed on as it is: the engine denies it, and it never throws. */
function argumentsOf(args: unknown): PolicyCall['arguments'] {
  return (args ?? null) as PolicyCall['arguments'];
}

function refusePromise(value: unknown, what: string): unknown {
  const isPromise =
    typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
  if (!isPromise) return value;
  // Its own failure would otherwise surface later, as an unhandled rejection far from here.
  Promise.resolve(value).catch(() => undefined);
  throw new ValueError(`${what} returned a promise in a synchronous run; use run instead of runSync`);
}
