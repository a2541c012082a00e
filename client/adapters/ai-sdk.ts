import type { LanguageModelMiddleware, ToolSet } from 'ai';
import type { Gate } from '../audit/gate.ts';
import { bindingDeps } from '../defaults.ts';
import { bind, type BindingOptions } from '../govern/binding.ts';
import type { Admitted, Caller, Run } from '../govern/run.ts';
import type { PolicySource } from '../policy/policy-source.ts';
import { usageMiddleware } from './ai-sdk-usage.ts';

export type GovernToolsOptions = BindingOptions & { agentName: string };

/** One run's share of the governed tools, for one `generateText` or `streamText`. */
export type AiSdkRun<Tools> = {
  /** The same tools under the policy of this run; the ones without `execute` are left as they are. */
  tools: Tools;
  /** For `wrapLanguageModel`: reports the tokens of every model call. */
  usage: LanguageModelMiddleware;
};

export type GovernedToolSet<Tools> = {
  readonly source: PolicySource;
  readonly gate: Gate;
  /** Refreshes the policy and pins it; call it before each `generateText`. */
  startRun(caller?: Caller): Promise<AiSdkRun<Tools>>;
};

/** Binds AI SDK tools to an agent's policy; throws where there is no policy. */
export async function governTools<Tools extends ToolSet>(
  tools: Tools,
  options: GovernToolsOptions,
): Promise<GovernedToolSet<Tools>> {
  const toolNames = options.toolNames ?? Object.keys(tools);
  const binding = await bind(options.agentName, { ...options, toolNames }, bindingDeps);
  const { agentName, source, gate } = binding;
  return {
    source,
    gate,
    startRun: async (caller = {}) => {
      const run = await binding.startRun(caller);
      return { tools: governed(tools, run), usage: usageMiddleware(gate, { agentName, caller: run.caller }) };
    },
  };
}

function governed<Tools extends ToolSet>(tools: Tools, run: Run): Tools {
  const entries = Object.entries(tools).map(([name, tool]) => {
    const { execute } = tool as { execute?: Execute };
    return [name, execute ? { ...tool, execute: governedExecute(run, name, execute) } : tool];
  });
  return Object.fromEntries(entries) as Tools;
}

type Execute = (input: unknown, options: unknown) => unknown;

/** An allowed call stays as it is, because a tool that streams returns an iterable and no promise of one. */
function governedExecute(run: Run, name: string, execute: Execute): Execute {
  return (input, options) => {
    const admitted = run.admit(name, input);
    if (typeof admitted === 'function') return execute(admitted(), options);
    return afterApproval(admitted, (decided) => execute(decided, options));
  };
}

async function afterApproval(
  pending: Promise<Admitted>,
  execute: (decided: unknown) => unknown,
): Promise<unknown> {
  const result = execute((await pending)());
  return isAsyncIterable(result) ? lastOf(result) : result;
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}

/** The SDK takes the last part of a stream for the result. */
async function lastOf(parts: AsyncIterable<unknown>): Promise<unknown> {
  let last: unknown;
  for await (const part of parts) last = part;
  return last;
}
