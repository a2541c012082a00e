import { generateText, stepCountIs, streamText, tool, type ToolSet } from 'ai';
import { governTools } from '../../../client/adapters/ai-sdk.ts';
import { callOf, modelMaking } from '../ai-sdk-model.ts';
import type { AdapterHarness, Steps } from './contract.ts';
import { schemaOf } from './schemas.ts';

/** The part of the Vercel AI SDK that is used, in any version. */
export type AiSdk = {
  generateText: typeof generateText;
  streamText: typeof streamText;
  stepCountIs: typeof stepCountIs;
  tool: typeof tool;
  modelMaking: typeof modelMaking;
};

/** The Vercel AI SDK with its mock model. */
export const aiSdkHarnessOf = (sdk: AiSdk): AdapterHarness => ({
  isStreaming: true,
  bind: async (tools, options) => {
    const own: ToolSet = Object.fromEntries(
      Object.entries(tools).map(([name, execute]) => [
        name,
        sdk.tool({ inputSchema: schemaOf(name), execute: (args) => execute(args) }),
      ]),
    );
    const governed = await governTools(own, options);
    return async (steps, { caller, isStreamed = false, onModel }) => {
      const calls = steps.map((step, index) =>
        step.map(({ name, args }, call) => callOf(name, args, `${index}-${call}`)),
      );
      const model = sdk.modelMaking(calls, onModel);
      // Without toolApproval: approvals are requested through onApproval, or refused.
      const { tools: runTools, prepareStep } = await governed.startRun(caller);
      const settings = { tools: runTools, prepareStep, model, stopWhen: sdk.stepCountIs(9), prompt: 'Go.' };
      if (isStreamed) await sdk.streamText(settings).consumeStream();
      else await sdk.generateText(settings);
      return resultsFor(model, steps);
    };
  },
});

export const aiSdkHarness = aiSdkHarnessOf({ generateText, stepCountIs, streamText, tool, modelMaking });

function resultsFor(
  { doGenerateCalls, doStreamCalls }: ReturnType<typeof modelMaking>,
  steps: Steps,
): string[] {
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
