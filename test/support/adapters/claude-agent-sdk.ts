import { governHooks, type HookOutput } from '../../../client/adapters/claude-agent-sdk.ts';
import type { RunOptions } from '../../../client/index.ts';
import type { AdapterHarness, ModelCall, TestTools } from './contract.ts';

type Hooks = Awaited<ReturnType<typeof governHooks>>['hooks'];

let sessions = 0;

/**
 * Acts as Claude Code, whose program is too large to install for a test: calls the hooks with the input that their types describe, and
 * follows their answers.
 */
export const claudeAgentSdkHarness: AdapterHarness = {
  isStreaming: false,
  bind: async (tools, options) => {
    const callers = new Map<string, RunOptions>();
    const { hooks } = await governHooks({
      ...options,
      caller: ({ session_id }) => callers.get(session_id) ?? {},
    });
    return async (steps, { caller = {}, onModel }) => {
      const input = { session_id: `session-${(sessions += 1)}`, prompt_id: 'prompt-1' };
      callers.set(input.session_id, caller);
      const begun = await answerOf(hooks, 'UserPromptSubmit', input);
      if (begun.decision === 'block') throw new Error(begun.reason);
      const texts: string[] = [];
      for (const calls of steps) {
        onModel?.();
        texts.push(...(await Promise.all(calls.map((call) => resultOf(hooks, { tools, input, call })))));
      }
      await answerOf(hooks, 'SessionEnd', input);
      return texts;
    };
  },
};

type Input = { session_id: string };

async function resultOf(
  hooks: Hooks,
  { tools, input, call }: { tools: TestTools; input: Input; call: ModelCall },
): Promise<string> {
  const { hookSpecificOutput: answer } = await answerOf(hooks, 'PreToolUse', {
    ...input,
    tool_name: call.name,
    tool_input: call.args,
  });
  if (answer?.permissionDecision === 'deny') return answer.permissionDecisionReason;
  try {
    return String(tools[call.name]?.(call.args));
  } catch (error) {
    return String(error);
  }
}

async function answerOf(
  hooks: Hooks,
  event: keyof Hooks,
  input: Input & { tool_name?: string; tool_input?: unknown },
): Promise<HookOutput> {
  const signal = new AbortController().signal;
  const answers = hooks[event].flatMap((matcher) =>
    matcher.hooks.map((hook) => hook(input, 'call-1', { signal })),
  );
  return Object.assign({}, ...(await Promise.all(answers))) as HookOutput;
}
