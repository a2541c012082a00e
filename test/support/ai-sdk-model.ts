import { simulateReadableStream } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';

/** What the mock model says it used, in each step. */
export const usage = {
  inputTokens: { total: 100, noCache: 60, cacheRead: 40, cacheWrite: 0 },
  outputTokens: { total: 20, text: 15, reasoning: 5 },
};

/** A call the mock model asks for. */
export const callOf = (toolName: string, input: unknown) =>
  ({ type: 'tool-call', toolCallId: `call-${toolName}`, toolName, input: JSON.stringify(input) }) as const;

/** A model that calls these tools in its first step and says "done" in its second. */
export function modelCalling(...calls: ReturnType<typeof callOf>[]): MockLanguageModelV4 {
  const answers = [
    { content: calls, finishReason: { unified: 'tool-calls', raw: undefined } as const, usage, warnings: [] },
    {
      content: [{ type: 'text', text: 'done' } as const],
      finishReason: { unified: 'stop', raw: undefined } as const,
      usage,
      warnings: [],
    },
  ];
  return new MockLanguageModelV4({ provider: 'mock', modelId: 'mock-1', doGenerate: answers });
}

/** The same as a stream. */
export function modelStreaming(...calls: ReturnType<typeof callOf>[]): MockLanguageModelV4 {
  const finish = (unified: 'tool-calls' | 'stop') =>
    ({ type: 'finish', finishReason: { unified, raw: undefined }, usage }) as const;
  const answers = [
    { stream: simulateReadableStream({ chunks: [...calls, finish('tool-calls')] }) },
    { stream: simulateReadableStream({ chunks: [finish('stop')] }) },
  ];
  return new MockLanguageModelV4({ provider: 'mock', modelId: 'mock-1', doStream: answers });
}
