import { AIMessage, createAgent, fakeModel, tool, ToolMessage } from 'langchain';
import { governMiddleware } from '../../../client/adapters/langchain.ts';
import type { RunOptions } from '../../../client/index.ts';
import type { AdapterHarness, AskOptions, Steps } from './contract.ts';
import { schemaOf } from './schemas.ts';

/** An agent of LangChain with its fake model; the context of a run is its caller. */
export const langchainHarness: AdapterHarness = {
  isStreaming: true,
  bind: async (tools, options) => {
    const own = Object.entries(tools).map(([name, execute]) =>
      tool((args: unknown) => execute(args), { name, schema: schemaOf(name) }),
    );
    const { middleware } = await governMiddleware({
      ...options,
      caller: ({ context = {} }: { context?: RunOptions }) => context,
    });
    return async (steps, { caller = {}, isStreamed = false, onModel }) => {
      const agent = createAgent({ model: modelMaking(steps, onModel), tools: own, middleware: [middleware] });
      const input = { messages: [{ role: 'user', content: 'Go.' }] };
      let messages: unknown[] = [];
      if (isStreamed) {
        const stream = await agent.stream(input, { context: caller, streamMode: 'values' });
        for await (const state of stream) ({ messages } = state);
      } else ({ messages } = await agent.invoke(input, { context: caller }));
      return resultsIn(messages, steps);
    };
  },
};

function modelMaking(steps: Steps, onModel: AskOptions['onModel']) {
  const model = fakeModel();
  for (const [step, calls] of steps.entries()) {
    model.respond(() => {
      onModel?.();
      const tool_calls = calls.map((call, index) => ({ ...call, id: `${step}-${index}` }));
      return new AIMessage({ content: '', tool_calls });
    });
  }
  return model.respond(new AIMessage('done'));
}

function resultsIn(messages: unknown[], steps: Steps): string[] {
  const results = messages.filter((message) => ToolMessage.isInstance(message));
  return steps.flatMap((calls, step) =>
    calls.map((_, index) => results.find((one) => one.tool_call_id === `${step}-${index}`)?.text ?? ''),
  );
}
