import { randomUUID } from 'node:crypto';
import { copyArguments } from './copy-arguments.ts';
import type { InnerGate } from '../audit/gate.ts';
import { decisionText, unreadableCall } from '../policy/language/decision.ts';
import type { Decision, Outcome, PolicyCall, PolicyEngine } from '../policy/language/decision.ts';
import { ValueError } from '../errors.ts';
import { checkType } from '../options.ts';
import {
  anyOf,
  approve,
  approveSync,
  type Admitted,
  type ApprovalOptions,
  type ApprovalRequest,
  type Asking,
  type OnApproval,
} from './approval.ts';
import { PolicyDeniedError } from './decision-errors.ts';

/** On whose behalf a run acts. */
export type Caller = {
  /** The role that the policy decides for; default the policy's rules for any role. */
  role?: string | undefined;
  /** Recorded with every decision, and passed to the approver. */
  userId?: string | undefined;
  /** Recorded with every decision, and passed to the approver. */
  sessionId?: string | undefined;
};

/** The caller and the approver of one run. Options that are not set default to those of the binding. */
export type RunOptions = Caller & ApprovalOptions;

/** A framework's data about one tool call. */
export type CallOptions = {
  /** The framework's own id of the call, for the approver. */
  callId?: string | undefined;
  /** Cancels the wait for an approval, as the run's signal does. */
  signal?: AbortSignal | undefined;
  /** Approves this call in place of the run's approver. */
  onApproval?: OnApproval | undefined;
};

/** A recorded decision, with the copy of the arguments that it was made on. */
export type DecidedCall = Readonly<ApprovalRequest & { outcome: Outcome }>;

/** Runs the tool on the arguments that were decided on. */
export type Execute<Result = unknown> = (args: unknown) => Result;

/** One run of an agent: the policy that it started with, and its caller. */
export type PolicyRun = {
  /** Decides and records the call. Never throws: the caller decides what the outcome means. */
  decide(tool: string, args?: unknown): DecidedCall;
  /** The result that `decide` would give; records nothing. */
  preview(tool: string, args?: unknown): DecidedCall;
  /**
   * Decides and records the call, asks for an approval if one is needed, then executes it on the arguments that were decided on.
   * Rejects with a PolicyDeniedError or an ApprovalRequiredError if it must not run.
   */
  call<Result>(tool: string, args: unknown, execute: Execute<Result>): Promise<Awaited<Result>>;
  /**
   * For adapters: `call` up to the execution. An allowed call is admitted immediately, one that needs approval later; a denied call throws.
   * Call the returned function right before the tool runs: it returns the arguments, or throws if an approver changed them.
   */
  admit(tool: string, args: unknown, options?: CallOptions): Admitted | Promise<Admitted>;
  /** Those of these tools that this role may use, some perhaps only with certain arguments. Default all of the agent. Records nothing. */
  tools(names?: readonly string[]): string[];
};

/** A run without an event loop: it records nothing, and its calls are synchronous. */
export type SyncPolicyRun = Pick<PolicyRun, 'decide' | 'tools'> & {
  /** Throws a ValueError if the tool or the approver returns a promise. */
  callSync<Result>(tool: string, args: unknown, execute: Execute<Result>): Result;
};

type RunParts = {
  agentName: string;
  toolNames: readonly string[];
  policy: PolicyEngine;
  currentGate: () => InnerGate;
  options: RunOptions;
  /** A synchronous run emits no events. */
  isSync: boolean;
};

const BAD_CALL = { ok: false, code: 'bad_call' } as const;

/** Violations by which a policy denies a tool with any arguments. */
const NEVER = new Set(['unknown_tool', 'role_not_allowed', 'engine_failed']);

export class Run implements PolicyRun, SyncPolicyRun {
  readonly #parts: RunParts;

  constructor(parts: RunParts) {
    this.#parts = parts;
  }

  decide(tool: string, args?: unknown): DecidedCall {
    const decided = this.preview(tool, args);
    const { currentGate, agentName, options, isSync } = this.#parts;
    const { userId: user_id, sessionId: session_id } = options;
    if (isSync) return decided;
    const gate = currentGate();
    gate.emit({ ...decided, agent_name: agentName, tool_name: tool, user_id, session_id });
    gate.warnOfShutdown();
    return decided;
  }

  preview(tool: string, args?: unknown): DecidedCall {
    const { policy, options } = this.#parts;
    const { role = '' } = options;
    // A caller without types could pass an object here that changes its name after the decision.
    const copied = typeof tool === 'string' ? copyArguments(args) : BAD_CALL;
    // Arguments that are not an object are passed on, and the engine denies them.
    const decision = copied.ok
      ? policy.decide({ tool, role, arguments: (copied.value ?? null) as PolicyCall['arguments'] })
      : (JSON.parse(decisionText(unreadableCall(copied.code))) as Decision);
    const called = { tool, arguments: copied.ok ? copied.value : args, role, event_id: randomUUID() };
    return Object.freeze({ ...called, ...decision });
  }

  admit(tool: string, args: unknown, options?: CallOptions | null): Promise<Admitted> | Admitted {
    const decided = this.#decideOrThrow(tool, args);
    if (decided.outcome === 'needs_approval') return approve(this.#askingOf(decided, options ?? {}));
    return () => decided.arguments;
  }

  async call<Result>(tool: string, args: unknown, execute: Execute<Result>): Promise<Awaited<Result>> {
    requireFunction(execute);
    const admitted = this.admit(tool, args);
    return await execute((typeof admitted === 'function' ? admitted : await admitted)());
  }

  callSync<Result>(tool: string, args: unknown, execute: Execute<Result>): Result {
    requireFunction(execute);
    const decided = this.#decideOrThrow(tool, args);
    const admitted =
      decided.outcome === 'needs_approval'
        ? approveSync(this.#askingOf(decided), (answer) => refusePromise(answer, 'onApproval'))
        : () => decided.arguments;
    return refusePromise(execute(admitted()), `The tool ${tool}`);
  }

  tools(names?: readonly string[] | null): string[] {
    const { policy, options, toolNames } = this.#parts;
    const asked = names ?? toolNames;
    checkType('The names of tools', 'array', asked);
    const isNever = (tool: string): boolean =>
      policy
        .decide({ tool, role: options.role ?? '', arguments: {} })
        .violations.some((one) => NEVER.has(one));
    return asked.filter((tool) => !isNever(tool));
  }

  #decideOrThrow(tool: string, args: unknown): DecidedCall {
    const decided = this.decide(tool, args);
    if (decided.outcome === 'allow' || decided.outcome === 'needs_approval') return decided;
    throw new PolicyDeniedError(decided, decided);
  }

  #askingOf(decided: DecidedCall, call: CallOptions = {}): Asking {
    const { outcome: _, ...request } = decided;
    const { agentName, options: own } = this.#parts;
    const options = call.onApproval ? { ...own, onApproval: call.onApproval } : own;
    const { userId, sessionId } = options;
    const signal = anyOf(call.signal, options.signal);
    return {
      request: Object.freeze(request),
      context: { agentName, userId, sessionId, callId: call.callId, signal },
      options,
    };
  }
}

function requireFunction(execute: unknown): void {
  if (typeof execute !== 'function')
    throw new ValueError('A call takes the name of a tool, its arguments, and a function that executes it');
}

function refusePromise<T>(value: T, what: string): T {
  const isPromise =
    typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
  if (!isPromise) return value;
  // Otherwise its failure would become an unhandled rejection.
  Promise.resolve(value).catch(() => undefined);
  throw new ValueError(`${what} returned a promise in a synchronous run; use run instead of runSync`);
}
