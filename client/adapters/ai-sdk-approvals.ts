import type { ModelMessage } from 'ai';
import type { PolicyRun } from '../govern/run.ts';

/** A tool call of a model, as the SDK asks about it before it executes it. */
export type ApprovalQuestion = {
  toolCall: { toolName: string; toolCallId: string; input: unknown };
  messages: ModelMessage[];
};

/** The SDK asks its user and ends the run. With undefined, the execution decides. */
export type ApprovalStatus = { type: 'user-approval'; reason: string } | undefined;

/**
 * Approvals that the SDK requests and keeps in its messages. A later run, perhaps in another process, executes what was approved. Before
 * that, the SDK asks again about each of these calls.
 */
export class SdkApprovals {
  readonly #approved = new WeakMap<PolicyRun, Set<string>>();

  statusOf(run: PolicyRun, { toolCall, messages }: ApprovalQuestion): ApprovalStatus {
    const { toolName, toolCallId, input } = toolCall;
    const { outcome, reason } = run.preview(toolName, input);
    // The execution refuses a denied call and gives the model the reason.
    if (outcome !== 'needs_approval') return undefined;
    if (isAnswered(toolCallId, messages)) this.#of(run).add(toolCallId);
    else run.decide(toolName, input);
    return { type: 'user-approval', reason };
  }

  /** Whether the SDK executes this call because it was approved. True only once. */
  take(run: PolicyRun, toolCallId: string | undefined): boolean {
    return toolCallId !== undefined && this.#of(run).delete(toolCallId);
  }

  #of(run: PolicyRun): Set<string> {
    const approved = this.#approved.get(run) ?? new Set();
    this.#approved.set(run, approved);
    return approved;
  }
}

/** Whether the messages end with an answer to an approval request for this call that has no result yet. */
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
