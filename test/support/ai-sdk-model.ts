import { simulateReadableStream } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';

/** The usage that the mock model reports, for each step. */
export const usage = {
  inputTokens: { total: 100, noCache: 60, cacheRead: 40, cacheWrite: 0 },
  outputTokens: { total: 20, text: 15, reasoning: 5 },
};

/** A call the mock model asks for. */
export const callOf = (toolName: string, input: unknown, toolCallId = `call-${toolName}`) =>
  ({ type: 'tool-call', toolCallId, toolName, input: JSON.stringify(input) }) as const;

type Call = ReturnType<typeof callOf>;

const reasonOf = (unified: 'tool-calls' | 'stop') => ({ unified, raw: undefined });
const generated = (calls: Call[]) => ({
  content: calls.length > 0 ? calls : [{ type: 'text', text: 'done' } as const],
  finishReason: reasonOf(calls.length > 0 ? 'tool-calls' : 'stop'),
  usage,
  warnings: [],
});
const streamed = (calls: Call[]) => {
  const finish = { type: 'finish', finishReason: generated(calls).finishReason, usage } as const;
  return { stream: simulateReadableStream({ chunks: [...calls, finish] }) };
};

/** A model that makes the calls of each step, then says "done". `onModel` is called before each answer. */
export function modelMaking(steps: Call[][], onModel = (): void => undefined): MockLanguageModelV4 {
  const answers = [...steps, []];
  const next = (): Call[] => {
    onModel();
    return answers.shift() ?? [];
  };
  return new MockLanguageModelV4({
    provider: 'mock',
    modelId: 'mock-1',
    doGenerate: async () => generated(next()),
    doStream: async () => streamed(next()),
  });
}

/** A model that calls these tools in its first step and says "done" in its second. */
export const modelCalling = (...calls: Call[]): MockLanguageModelV4 => modelMaking([calls]);
