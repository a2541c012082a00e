import { bindAs } from '../defaults.ts';
import { ValueError } from '../errors.ts';
import { withBound, type AdapterOptions, type Bound } from '../govern/binding.ts';
import type { RunOptions } from '../govern/run.ts';
import { checkType, requireOptions } from '../options.ts';
import { callOrTell } from './call-or-tell.ts';
import { agentRuns, type Agent, type RunContext } from './openai-agents-runs.ts';
import { overridden } from './overridden.ts';

export type GovernToolsOptions<Context> = AdapterOptions & {
  /** The caller of a run, from the `context` that was passed to `run`. Default the caller in these options. */
  caller?: ((context: Context) => RunOptions) | undefined;
};

export type GovernedToolList<Tool> = Bound & {
  /** The tools under the policy of their run, for any number of agents and runs. */
  tools: Tool[];
};

type CallDetails = { toolCall?: { callId?: string }; signal?: AbortSignal };

/** The governed part of a function tool, as the SDK's `tool` creates it. */
type FunctionTool = {
  type: 'function';
  name: string;
  invoke(runContext: RunContext, input: string, details?: CallDetails): Promise<unknown>;
  isEnabled?(runContext: RunContext, agent: Agent): Promise<boolean>;
};

/**
 * Binds tools of the OpenAI Agents SDK to an agent's policy; throws if there is no policy. Each `run` is a run with its own policy,
 * refreshed before the model is asked.
 */
export async function governTools<Tool extends { type: string }, Context = unknown>(
  tools: readonly Tool[],
  given: GovernToolsOptions<Context>,
): Promise<GovernedToolList<Tool>> {
  const { caller, ...options } = requireOptions('governTools', given);
  checkType('governTools: caller', 'function', caller ?? null);
  const own = tools.filter(runsHere);
  const toolNames = options.toolNames ?? own.map(({ name }) => name);
  const binding = await bindAs('governTools', { ...options, toolNames });
  const runs = agentRuns(({ context }) => binding.startRun(caller?.(context as Context)));
  const ruled = tools.map((tool) => (runsHere(tool) ? governed(tool, runs) : tool));
  return withBound({ tools: ruled }, binding);
}

/** Whether the tool is to be governed. Hosted tools run on the model's side. */
function runsHere<Tool extends { type: string }>(tool: Tool): tool is Tool & FunctionTool {
  if (tool.type === 'function') return true;
  if (tool.type === 'hosted_tool' || (tool.type === 'shell' && !('shell' in tool))) return false;
  throw new ValueError(
    `A tool of type ${tool.type} runs in this process and cannot be governed: make it a function tool, or leave it out`,
  );
}

function governed<Tool extends FunctionTool>(tool: Tool, runs: ReturnType<typeof agentRuns>): Tool {
  const functions: Pick<FunctionTool, 'isEnabled' | 'invoke'> = {
    // Called for every tool before every model call, so the run starts before the first one.
    isEnabled: async (runContext: RunContext, agent: Agent) => {
      await runs.ofAgent(runContext, agent);
      return (await tool.isEnabled?.(runContext, agent)) ?? true;
    },
    invoke: async (runContext: RunContext, input: string, details?: CallDetails) =>
      callOrTell<unknown>(
        {
          run: await runs.ofCall(runContext, details?.toolCall),
          tool: tool.name,
          args: argumentsIn(input),
          callId: details?.toolCall?.callId,
          signal: details?.signal,
        },
        { execute: (args) => tool.invoke(runContext, JSON.stringify(args), details), tell: String },
      ),
  };
  return overridden<FunctionTool>(tool, functions) as Tool;
}

/** Arguments that are not JSON are passed on as text, which every policy denies. */
function argumentsIn(input: string): unknown {
  try {
    return JSON.parse(input);
  } catch {
    return input;
  }
}
