import { jsonText, plainCopy } from '../audit/plain-copy.ts';
import { timerMs } from '../config.ts';
import { ValueError } from '../errors.ts';
import type { Decision } from '../policy/language/runtime.ts';
import { copyArguments } from './copy-arguments.ts';
import { ApprovalRequiredError, type ApprovalFailure } from './decision-errors.ts';

/** The question to the approver. */
export type ApprovalRequest = {
  tool: string;
  arguments: unknown;
  role: string;
  reason: string;
  violations: readonly string[];
  hint: Decision['hint'];
  /** Of the event that recorded the decision. */
  event_id: string;
};

/** Identifies the call, and states until when an answer counts. */
export type ApprovalContext = {
  agentName: string;
  userId?: string | undefined;
  sessionId?: string | undefined;
  /** The framework's own id of the tool call, if it has one. */
  callId?: string | undefined;
  /** Aborted when the run or the call is cancelled, and when the answer is late: withdraw the question then. */
  signal?: AbortSignal | undefined;
};

/** Approves with `true`, immediately or later. Any other answer refuses. */
export type OnApproval = (request: ApprovalRequest, context: ApprovalContext) => boolean | Promise<boolean>;

export type ApprovalOptions = {
  /** Approves the calls that need it. Without it they are refused. */
  onApproval?: OnApproval | undefined;
  /** How long to wait for an approval, in milliseconds; default without end. */
  approvalTimeoutMs?: number | undefined;
  /** Cancels pending approvals. */
  signal?: AbortSignal | undefined;
  /**
   * Errors of `onApproval` that reach the caller unchanged, because a framework throws them to pause a run. Those of LangGraph always do.
   */
  passThrough?: ((error: unknown) => boolean) | undefined;
};

export type Asking = {
  request: ApprovalRequest;
  context: ApprovalContext;
  options: ApprovalOptions;
};

/** Returns the approved arguments, or throws if they have changed since the decision. Call it right before the tool runs. */
export type Admitted = () => unknown;

/** Asks and waits for the answer. Rejects with an ApprovalRequiredError that explains why there is no approval. */
export async function approve({ request, context, options }: Asking): Promise<Admitted> {
  const guarded = guardedArguments(request);
  const answer: unknown = await answerInTime({ request, context, options });
  if (answer !== true) throw missing(request, 'refused');
  return guarded;
}

/** Unlike AbortSignal.timeout, its timer keeps the program alive, because the approver may wait without doing so. */
async function answerInTime({ request, context, options }: Asking): Promise<boolean> {
  const { approvalTimeoutMs: timeoutMs } = options;
  if (timeoutMs === undefined) return answerOf({ request, context, options });
  const late = new AbortController();
  const signal = anyOf(context.signal, late.signal);
  const giveUp = (): void => late.abort(new DOMException('The approval is late', 'TimeoutError'));
  const timer = setTimeout(giveUp, timerMs(timeoutMs));
  return answerOf({ request, context: { ...context, signal }, options }).finally(() => clearTimeout(timer));
}

/** The same without waiting; `settled` refuses an answer that is a promise. */
export function approveSync(
  { request, context, options }: Asking,
  settled: (answer: unknown) => unknown,
): Admitted {
  const guarded = guardedArguments(request);
  if (settled(ask({ request, context, options })) !== true) throw missing(request, 'refused');
  return guarded;
}

function answerOf(asking: Asking): Promise<boolean> {
  const { request, context } = asking;
  const { signal } = context;
  return new Promise((resolve, reject) => {
    const giveUp = (): void => {
      const { reason } = signal as { reason: unknown };
      const isLate = (Object(reason) as { name?: unknown }).name === 'TimeoutError';
      reject(missing(request, isLate ? 'timed_out' : 'cancelled', { cause: reason }));
    };
    if (signal?.aborted) return giveUp();
    const answer = ask(asking);
    if (signal?.aborted) giveUp();
    signal?.addEventListener('abort', giveUp, { once: true });
    Promise.resolve(answer)
      .catch((error: unknown) => refuse(error, asking))
      .then(resolve, reject)
      .finally(() => signal?.removeEventListener('abort', giveUp));
  });
}

function ask(asking: Asking): boolean | Promise<boolean> {
  const { request, context, options } = asking;
  if (!options.onApproval) throw missing(request, 'no_approver');
  try {
    return options.onApproval(request, context);
  } catch (error) {
    return refuse(error, asking);
  }
}

function refuse(error: unknown, { request, options }: Asking): never {
  if (isOfLangGraph(error) || options.passThrough?.(error) === true) throw error;
  throw missing(request, 'failed', { cause: error });
}

/** LangGraph pauses a graph by throwing: the error must reach it. */
function isOfLangGraph(error: unknown): boolean {
  return (Object(error) as { is_bubble_up?: unknown }).is_bubble_up === true;
}

/** The approver holds `request.arguments` and could change them, so the tool gets a copy of its own. */
function guardedArguments(request: ApprovalRequest): Admitted {
  const decidedOn = copyArguments(request.arguments);
  const text = jsonText(plainCopy(request.arguments));
  return () => {
    if (decidedOn.ok && jsonText(plainCopy(request.arguments)) === text) return decidedOn.value;
    const cause = new ValueError('The arguments changed while the approval was pending');
    throw missing(request, 'arguments_changed', { cause });
  };
}

function missing(request: ApprovalRequest, approval: ApprovalFailure, cause: ErrorOptions = {}): Error {
  return new ApprovalRequiredError(request, request, { approval, ...cause });
}

/** Aborts when one of these does. */
export function anyOf(...signals: (AbortSignal | undefined)[]): AbortSignal | undefined {
  const given = signals.filter((signal) => signal !== undefined);
  return given.length > 1 ? AbortSignal.any(given) : given[0];
}
