import type { ModelMessage } from 'ai';
import type { PolicyRun } from '../govern/run.ts';

/** A tool call of a model, as the SDK asks about it before it executes it. */
export type ApprovalQuestion = {
  toolCall: { toolName: string; toolCallId: string; input: unknown };
  messages: ModelMessage[];
};

/** The SDK asks its user, and ends the run. Undefined leaves the call to the execution. */
export type ApprovalStatus = { type: 'user-approval'; reason: string } | undefined;

/**
 * Approvals that the SDK asks for and keeps in its messages. A later run, perhaps in another process, executes what was approved: the
 * SDK asks again about each of these calls first.
 */
export class SdkApprovals {
  readonly #approved = new WeakMap<PolicyRun, Set<string>>();

  statusOf(run: PolicyRun, { toolCall, messages }: ApprovalQuestion): ApprovalStatus {
    const { toolName, toolCallId, input } = toolCall;
    const { outcome, reason } = run.preview(toolName, input);
    // The execution refuses a denied call, and tells the model why.
    if (outcome !== 'needs_approval') return undefined;
    if (isAnswered(toolCallId, messages)) this.#of(run).add(toolCallId);
    else run.decide(toolName, input);
    return { type: 'user-approval', reason };
  }

  /** Whether the SDK executes this call because it was approved. Once. */
  take(run: PolicyRun, toolCallId: string | undefined): boolean {
    return toolCallId !== undefined && this.#of(run).delete(toolCallId);
  }

  #of(run: PolicyRun): Set<string> {
    const approved = this.#approved.get(run) ?? new Set();
    this.#approved.set(run, approved);
    return approved;
  }
}

/** Whether the messages end with the answer to a request to approve this call, which has no result yet. */
function isAnswered(toolCallId: string, messages: readonly ModelMessage[]): boolean {
  const said = messages.flatMap(({ role, content }) =>
    role === 'assistant' && typeof content !== 'string' ? content : [],
  );
  const request = said.findLast(
    (one) => one.type === 'tool-approval-request' && one.toolCallId === toolCallId,
  );
  const last = messages.at(-1);
  if (request?.type !== 'tool-approval-request' || last?.role !== 'tool') return false;
  const { approvalId } = request;
  const hasRun = last.content.some((one) => one.type === 'tool-result' && one.toolCallId === toolCallId);
  return (
    !hasRun &&
    last.content.some((one) => one.type === 'tool-approval-response' && one.approvalId === approvalId)
  );
}
