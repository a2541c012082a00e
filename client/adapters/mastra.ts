import { bindAs } from '../defaults.ts';
import { withBound, type AdapterOptions, type Bound } from '../govern/binding.ts';
import type { PolicyRun, RunOptions } from '../govern/run.ts';
import { checkType, requireOptions } from '../options.ts';
import { callOrTell } from './call-or-tell.ts';

/** The part of Mastra's RequestContext that is read here. */
export type RequestContext = { get(key: string): unknown };

export type GovernAgentOptions = AdapterOptions & {
  /** The caller of a run, from its RequestContext. Default the caller in these options. */
  caller?: ((requestContext: RequestContext) => RunOptions) | undefined;
};

/** A call as Mastra passes it to a hook. */
export type ToolHookContext = { toolName: string; input?: unknown; context?: unknown };

type InputProcessor = {
  id: string;
  processInput<Messages>(step: { messages: Messages; requestContext?: unknown }): Promise<Messages>;
};

export type GovernedAgentParts = Bound & {
  /** For the `hooks` of an agent: decides its tool calls. */
  hooks: { beforeToolCall(call: ToolHookContext): Promise<void | { proceed: false; output: string }> };
  /** For the `inputProcessors` of the same agent: refreshes the policy before the model is asked. */
  inputProcessors: InputProcessor[];
};

type CallContext = { requestContext?: object; toolCallId?: string; abortSignal?: AbortSignal };

/**
 * Binds agents of Mastra to an agent's policy; throws if there is no policy. Each `generate` or `stream` is a run with its own policy,
 * refreshed before the model is asked. Runs that overlap need a RequestContext each; Mastra makes one where none is given.
 */
export async function governAgent(given: GovernAgentOptions): Promise<GovernedAgentParts> {
  const { caller, ...options } = requireOptions('governAgent', given);
  checkType('governAgent: caller', 'function', caller ?? null);
  const binding = await bindAs('governAgent', options);
  const runs = new WeakMap<object, Promise<PolicyRun>>();
  const begin = (requestContext: object): Promise<PolicyRun> => {
    const run = binding.startRun(caller?.(requestContext as RequestContext));
    runs.set(requestContext, run);
    run.catch(() => runs.delete(requestContext));
    return run;
  };
  const processor: InputProcessor = {
    id: 'gatehouse',
    processInput: async ({ messages, requestContext }) => {
      await begin(Object(requestContext) as object);
      return messages;
    },
  };
  const hooks: GovernedAgentParts['hooks'] = {
    beforeToolCall: async ({ toolName, input, context }) => {
      const { requestContext = {}, toolCallId, abortSignal } = Object(context) as CallContext;
      const run = await (runs.get(requestContext) ?? begin(requestContext));
      return callOrTell<void | { proceed: false; output: string }>(
        { run, tool: toolName, args: input, callId: toolCallId, signal: abortSignal },
        { execute: () => undefined, tell: (refusal) => ({ proceed: false, output: String(refusal) }) },
      );
    },
  };
  return withBound({ hooks, inputProcessors: [processor] }, binding);
}
