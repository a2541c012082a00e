import type { AgentMiddleware } from 'langchain';
import { bindAs } from '../defaults.ts';
import { withBound, type AdapterOptions, type Bound } from '../govern/binding.ts';
import type { DecisionError } from '../govern/decision-errors.ts';
import type { RunOptions } from '../govern/run.ts';
import { checkType, requireOptions } from '../options.ts';
import { callOrTell } from './call-or-tell.ts';
import { MessageRuns, type KnownRun } from './langchain-runs.ts';

/** LangChain's data about the run: the `context` and the `configurable` that `invoke` or `stream` were given. */
export type CallerRuntime<Context> = {
  context?: Context;
  configurable?: Record<string, unknown>;
  signal?: AbortSignal;
};

export type GovernMiddlewareOptions<Context> = AdapterOptions & {
  /** The caller of a run, from its runtime. Default the caller in these options. */
  caller?: ((runtime: CallerRuntime<Context>) => RunOptions) | undefined;
};

export type GovernedMiddleware = Bound & {
  /** For the `middleware` of `createAgent`, for any number of agents and runs. Put it last, so that nothing changes a call after it. */
  middleware: AgentMiddleware;
};

type State = { messages: object[] };
type ToolCall = { name: string; args: unknown; id?: string | undefined };

/**
 * Binds agents of LangChain to an agent's policy; throws if there is no policy. Each `invoke` or `stream` is a run with its own
 * policy, refreshed before the model is asked.
 */
export async function governMiddleware<Context = unknown>(
  given: GovernMiddlewareOptions<Context>,
): Promise<GovernedMiddleware> {
  const { caller, ...options } = requireOptions('governMiddleware', given);
  checkType('governMiddleware: caller', 'function', caller ?? null);
  const binding = await bindAs('governMiddleware', options);
  const runs = new MessageRuns((options) => binding.startRun(options));
  const runOf = (state: State, runtime: object, begun?: object): KnownRun =>
    runs.of(state.messages, { caller: caller?.(runtime) ?? {}, begun });
  const middleware: AgentMiddleware = {
    name: 'Gatehouse',
    beforeAgent: ({ messages }) => runs.forget(messages),
    wrapModelCall: async (request, handler) => {
      const known = runOf(request.state, request.runtime);
      await known.run;
      return runs.madeBy(known, await wholeMessage(await handler(request)));
    },
    wrapToolCall: async (request, handler) => {
      const { toolCall, state, runtime } = request;
      const { name, args, id } = toolCall as ToolCall;
      // A paused run may resume in another process, with messages that this process has not seen.
      const known = runOf(state, runtime, state.messages.at(-1));
      const execute = (decided: unknown) =>
        handler({ ...request, toolCall: { ...toolCall, args: decided as Record<string, unknown> } });
      const tell = (refusal: DecisionError) => toolMessage(refusal, { name, id });
      const call = { run: await known.run, tool: name, args, callId: id, signal: runtime.signal };
      return runs.madeBy(known, await callOrTell(call, { execute, tell }));
    },
  };
  return withBound({ middleware }, binding);
}

/** LangGraph stores a streamed answer as a new message, by which its run could not be identified. */
async function wholeMessage<T extends object>(made: T): Promise<T> {
  if (!('tool_call_chunks' in made)) return made;
  const { AIMessage } = await import('@langchain/core/messages');
  const fields = Object.entries(made).filter(
    ([key]) => key !== 'type' && key !== 'tool_call_chunks' && !key.startsWith('lc_'),
  );
  return new AIMessage(Object.fromEntries(fields)) as unknown as T;
}

async function toolMessage(
  refusal: DecisionError,
  { name, id = '' }: { name: string; id?: string | undefined },
) {
  // Loaded at the first refusal. A program that uses LangChain has loaded it already.
  const { ToolMessage } = await import('@langchain/core/messages');
  return new ToolMessage({ content: String(refusal), name, tool_call_id: id, status: 'error' });
}
