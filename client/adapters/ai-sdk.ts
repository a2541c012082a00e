import type { LanguageModelMiddleware, ToolSet } from 'ai';
import type { Gate } from '../audit/gate.ts';
import { bindingDeps } from '../defaults.ts';
import { bind, type BindingOptions } from '../govern/binding.ts';
import type { Admitted, Caller, Run } from '../govern/run.ts';
import type { PolicySource } from '../policy/policy-source.ts';
import { usageMiddleware } from './ai-sdk-usage.ts';

export type GovernToolsOptions = BindingOptions & { agentName: string };

/** The tools for one run: one `generateText` or `streamText`. */
export type AiSdkRun<Tools> = {
  /** The tools under the policy of this run; tools without `execute` are unchanged. */
  tools: Tools;
  /** For `wrapLanguageModel`: records the token usage of every model call. */
  usage: LanguageModelMiddleware;
};

export type GovernedToolSet<Tools> = {
  readonly source: PolicySource;
  readonly gate: Gate;
  /** Refreshes the policy and pins it; call it before each `generateText`. */
  startRun(caller?: Caller): Promise<AiSdkRun<Tools>>;
};

/** Binds tools of the AI SDK to an agent's policy; throws if there is no policy. */
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

/** Calls an allowed tool synchronously: one that streams must return an iterable, not a promise of one. */
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

/** The SDK takes the last part of a stream as the result. */
async function lastOf(parts: AsyncIterable<unknown>): Promise<unknown> {
  let last: unknown;
  for await (const part of parts) last = part;
  return last;
}
