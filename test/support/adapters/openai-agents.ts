import { Agent, Runner, tool } from '@openai/agents';
import { assistantMessage, functionCall, modelResponder, ScriptedModel } from '@openai/agents/testing';
import { governTools } from '../../../client/adapters/openai-agents.ts';
import type { RunOptions } from '../../../client/index.ts';
import type { AdapterHarness, AskOptions, Steps } from './contract.ts';
import { schemaOf } from './schemas.ts';

/** The OpenAI Agents SDK with its scripted model; the context of a run is its caller. */
export const openaiAgentsHarness: AdapterHarness = {
  isStreaming: true,
  bind: async (tools, options) => {
    const own = Object.entries(tools).map(([name, execute]) =>
      tool({ name, description: name, parameters: schemaOf(name), execute: (args) => execute(args) }),
    );
    const governed = await governTools(own, { ...options, caller: (context: RunOptions) => context });
    const runner = new Runner({ tracingDisabled: true });
    return async (steps, { caller = {}, isStreamed = false, onModel }) => {
      const model = modelMaking(steps, onModel);
      const agent = new Agent<RunOptions>({ name: 'support-bot', model, tools: governed.tools });
      if (isStreamed) {
        const result = await runner.run(agent, 'Go.', { context: caller, stream: true });
        for await (const event of result) void event;
        await result.completed;
      } else await runner.run(agent, 'Go.', { context: caller });
      return resultsFor(model, steps);
    };
  },
};

function modelMaking(steps: Steps, onModel: AskOptions['onModel']): ScriptedModel {
  const answers = steps.map((calls, step) =>
    modelResponder(() => {
      onModel?.();
      return calls.map(({ name, args }, index) => functionCall(name, args, { callId: `${step}-${index}` }));
    }),
  );
  return new ScriptedModel([...answers, [assistantMessage('done')]]);
}

function resultsFor(model: ScriptedModel, steps: Steps): string[] {
  const { input } = model.lastCall?.request ?? { input: [] };
  const items = typeof input === 'string' ? [] : input;
  const results = items.flatMap((item) => (item.type === 'function_call_result' ? [item] : []));
  return steps.flatMap((calls, step) =>
    calls.map((_, index) => {
      const output = results.find(({ callId }) => callId === `${step}-${index}`)?.output;
      return typeof output === 'object' && 'text' in output ? output.text : JSON.stringify(output);
    }),
  );
}
