import { generateText, stepCountIs, streamText, tool, type ToolSet } from 'ai';
import type { MockLanguageModelV4 } from 'ai/test';
import { governTools } from '../../../client/adapters/ai-sdk.ts';
import { callOf, modelMaking } from '../ai-sdk-model.ts';
import type { AdapterHarness, Steps } from './contract.ts';
import { schemaOf } from './schemas.ts';

/** The Vercel AI SDK with its mock model. */
export const aiSdkHarness: AdapterHarness = {
  isStreaming: true,
  bind: async (tools, options) => {
    const own: ToolSet = Object.fromEntries(
      Object.entries(tools).map(([name, execute]) => [
        name,
        tool({ inputSchema: schemaOf(name), execute: (args) => execute(args) }),
      ]),
    );
    const governed = await governTools(own, options);
    return async (steps, { caller, isStreamed = false, onModel }) => {
      const calls = steps.map((step, index) =>
        step.map(({ name, args }, call) => callOf(name, args, `${index}-${call}`)),
      );
      const model = modelMaking(calls, onModel);
      // Without toolApproval: approvals are asked for by onApproval, or refused.
      const { tools: runTools, prepareStep } = await governed.startRun(caller);
      const settings = { tools: runTools, prepareStep, model, stopWhen: stepCountIs(9), prompt: 'Go.' };
      if (isStreamed) await streamText(settings).consumeStream();
      else await generateText(settings);
      return resultsFor(model, steps);
    };
  },
};

function resultsFor({ doGenerateCalls, doStreamCalls }: MockLanguageModelV4, steps: Steps): string[] {
  const prompt = [...doGenerateCalls, ...doStreamCalls].at(-1)?.prompt ?? [];
  const results = prompt.flatMap(({ role, content }) => (role === 'tool' ? content : []));
  return steps.flatMap((calls, step) =>
    calls.map((_, index) => {
      const result = results.find((one) => 'toolCallId' in one && one.toolCallId === `${step}-${index}`);
      const output = result?.type === 'tool-result' ? result.output : undefined;
      return output?.type === 'text' || output?.type === 'error-text' ? output.value : '';
    }),
  );
}
