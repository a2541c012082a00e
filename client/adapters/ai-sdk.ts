import type { LanguageModelMiddleware, ModelMessage, ToolSet } from 'ai';
import { bindAs } from '../defaults.ts';
import { withBound, type AdapterOptions, type Bound, type PolicyBinding } from '../govern/binding.ts';
import { DecisionError } from '../govern/decision-errors.ts';
import type { PolicyRun, RunOptions } from '../govern/run.ts';
import { safeLogger } from '../logger.ts';
import { checkSdkTools, requireOptions } from '../options.ts';
import { SdkApprovals, type ApprovalQuestion, type ApprovalStatus } from './ai-sdk-approvals.ts';
import { SdkRuns, type Step } from './ai-sdk-runs.ts';
import { usageMiddleware } from './ai-sdk-usage.ts';
import { overridden } from './overridden.ts';

export type GovernToolsOptions = AdapterOptions;

/** The options that one caller passes to every `generateText`, `streamText` or agent. Each of these is a run with its own policy. */
export type AiSdkRun<Tools> = {
  /** The tools under the policy of their run; tools without `execute` are unchanged. */
  tools: Tools;
  /** For the option of this name: refreshes the policy at the top of each run, before the model is asked. */
  prepareStep: (step: Step) => Promise<{ messages?: ModelMessage[] }>;
  /**
   * For the option of this name (`ai` 7). The SDK requests and keeps the approvals, so they may come later, in another process. Only
   * without `onApproval`, which replaces it.
   */
  toolApproval: (question: ApprovalQuestion) => Promise<ApprovalStatus>;
  /** For `wrapLanguageModel`: records the token usage of every model call. */
  usage: LanguageModelMiddleware;
};

/** Its own `tools`, `prepareStep` and `usage` are for the caller in the options. */
export type GovernedToolSet<Tools> = AiSdkRun<Tools> &
  Bound & {
    /** The same for this caller. Refreshes the policy for the first run. */
    startRun(caller?: RunOptions): Promise<AiSdkRun<Tools>>;
  };

const UNSEEN =
  'A run of the AI SDK was not seen to begin: its policy was refreshed at its first tool call, after the model was asked. Pass prepareStep to generateText, streamText or the agent';

/** Binds tools of the AI SDK to an agent's policy; throws if there is no policy. */
export async function governTools<Tools extends ToolSet>(
  tools: Tools,
  options: GovernToolsOptions,
): Promise<GovernedToolSet<Tools>> {
  checkSdkTools(tools);
  const toolNames = requireOptions('governTools', options).toolNames ?? Object.keys(tools);
  const binding = await bindAs('governTools', { ...options, toolNames });
  let hasWarned = false;
  const onUnseen = (): void => {
    if (!hasWarned) safeLogger(options.logger).warn(UNSEEN, { agent_name: options.agentName });
    hasWarned = true;
  };
  const runsOf = (caller: RunOptions): SdkRuns =>
    new SdkRuns({ start: () => binding.startRun(caller), onUnseen });
  const startRun = async (caller: RunOptions = {}): Promise<AiSdkRun<Tools>> => {
    const runs = runsOf(caller);
    await runs.startNext();
    return runFrom(tools, { binding, caller, runs });
  };
  return withBound({ ...runFrom(tools, { binding, caller: {}, runs: runsOf({}) }), startRun }, binding);
}

type RunParts = { binding: PolicyBinding; caller: RunOptions; runs: SdkRuns };

function runFrom<Tools extends ToolSet>(tools: Tools, { binding, caller, runs }: RunParts): AiSdkRun<Tools> {
  const approvals = new SdkApprovals();
  const isAskedHere = binding.optionsOf(caller).onApproval !== undefined;
  return {
    tools: governed(tools, { runs, approvals }),
    toolApproval: async (question) => {
      const isOurs = tools[question.toolCall.toolName]?.execute !== undefined;
      if (!isOurs || isAskedHere) return undefined;
      return approvals.statusOf(await runs.of(question.messages), question);
    },
    prepareStep: (step) => runs.prepareStep(step),
    usage: usageMiddleware(binding, binding.optionsOf(caller)),
  };
}

type Governing = { runs: SdkRuns; approvals: SdkApprovals };

function governed<Tools extends ToolSet>(tools: Tools, governing: Governing): Tools {
  const entries = Object.entries(tools).map(([name, tool]) => {
    const { execute } = tool as { execute?: Execute };
    if (!execute) return [name, tool];
    const own: Execute = (...call) => Reflect.apply(execute, tool, call);
    return [name, overridden(tool, { execute: governedExecute(governing, name, own) })];
  });
  return Object.fromEntries(entries) as Tools;
}

type CallOfSdk = { messages: ModelMessage[]; toolCallId?: string; abortSignal?: AbortSignal };
type Execute = (input: unknown, options: CallOfSdk) => unknown;

/** Calls an allowed tool synchronously. A streaming tool must return an iterable, not a promise of one. */
function governedExecute({ runs, approvals }: Governing, name: string, execute: Execute): Execute {
  return (input, options) => {
    const { toolCallId: callId, abortSignal: signal } = options ?? {};
    const call = (run: PolicyRun): unknown => {
      const onApproval = approvals.take(run, callId) ? () => true : undefined;
      try {
        const admitted = run.admit(name, input, { callId, signal, onApproval });
        if (typeof admitted === 'function') return execute(admitted(), options);
        return settled(admitted.then((decided) => execute(decided(), options)).catch(rethrow));
      } catch (error) {
        return rethrow(error);
      }
    };
    const run = runs.of(options?.messages);
    return 'then' in run ? settled(run.then(call)) : call(run);
  };
}

/** ai 5 and 6 give the model the message of an error, ai 7 gives it the text. */
function rethrow(error: unknown): never {
  throw error instanceof DecisionError ? error.elaborate() : error;
}

async function settled(pending: Promise<unknown>): Promise<unknown> {
  const result = await pending;
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
