import type { LanguageModelMiddleware } from 'ai';
import type { UsageInput } from '../audit/usage-event.ts';
import type { PolicyBinding } from '../govern/binding.ts';
import type { Caller } from '../govern/run.ts';

type Wrap = NonNullable<LanguageModelMiddleware['wrapGenerate']>;
type Model = Parameters<Wrap>[0]['model'];
type Report = (outcome: Partial<UsageInput>) => void;

/** Records the token usage of every model call once it ends or fails. */
export function usageMiddleware(binding: PolicyBinding, caller: Caller): LanguageModelMiddleware {
  const reporting = (model: Model): Report => {
    const startedAtMs = performance.now();
    return (outcome) =>
      binding.gate.emitLlm({
        agent_name: binding.agentName,
        model: model.modelId,
        provider: model.provider,
        input_tokens: 0,
        output_tokens: 0,
        duration_ms: performance.now() - startedAtMs,
        role: caller.role,
        user_id: caller.userId,
        session_id: caller.sessionId,
        ...outcome,
      });
  };
  return {
    specificationVersion: 'v4',
    wrapGenerate: async ({ doGenerate, model }) => {
      const report = reporting(model);
      const result = await failing(doGenerate, report);
      report(tokensOf(result));
      return result;
    },
    wrapStream: async ({ doStream, model }) => {
      const report = reporting(model);
      const { stream, ...rest } = await failing(doStream, report);
      return { stream: watched(stream, report), ...rest };
    },
  };
}

type Streamed = Awaited<ReturnType<NonNullable<LanguageModelMiddleware['wrapStream']>>>;
type StreamPart = Streamed['stream'] extends ReadableStream<infer Part> ? Part : never;

/** The SDK's counts: `ai` 5 has numbers, later versions have objects. Anything that is not a count becomes 0. */
function tokensOf(finished: unknown): Partial<UsageInput> {
  const usage = field(finished, 'usage');
  const finishReason = field(finished, 'finishReason');
  const input = field(usage, 'inputTokens');
  const output = field(usage, 'outputTokens');
  return {
    input_tokens: countIn(field(input, 'total'), input),
    output_tokens: countIn(field(output, 'total'), output),
    cached_input_tokens: countIn(field(input, 'cacheRead'), field(usage, 'cachedInputTokens')),
    reasoning_tokens: countIn(field(output, 'reasoning'), field(usage, 'reasoningTokens')),
    finish_reason: textIn(field(finishReason, 'unified'), finishReason),
  };
}

/** Undefined if it is missing or cannot be read. */
function field(value: unknown, name: string): unknown {
  try {
    return (Object(value) as Record<string, unknown>)[name];
  } catch {
    // A getter of a model must not make its call fail.
    return undefined;
  }
}

function countIn(...values: unknown[]): number {
  return values.find((value): value is number => Number.isSafeInteger(value) && Number(value) >= 0) ?? 0;
}

function textIn(...values: unknown[]): string {
  return values.find((value) => typeof value === 'string') ?? '';
}

/**
 * The same stream, reported once: when it finishes, fails or is cancelled. In the last two cases its tokens are unknown. Not a
 * TransformStream, because some versions of Node do not notify it of a cancellation.
 */
function watched(stream: ReadableStream<StreamPart>, report: Report): ReadableStream<StreamPart> {
  const reader = stream.getReader();
  let isReported = false;
  const reportOnce: Report = (outcome) => {
    if (!isReported) report(outcome);
    isReported = true;
  };
  const pull = async (controller: ReadableStreamDefaultController<StreamPart>): Promise<void> => {
    const { done, value } = await failing(() => reader.read(), reportOnce);
    if (done) {
      reportOnce({ error_type: 'Error' });
      return controller.close();
    }
    if (value.type === 'finish') reportOnce(tokensOf(value));
    controller.enqueue(value);
  };
  const cancel = (reason: unknown): Promise<void> => {
    reportOnce({ error_type: 'AbortError' });
    return reader.cancel(reason);
  };
  // Does not read ahead of its reader.
  return new ReadableStream({ pull, cancel }, { highWaterMark: 0 });
}

async function failing<T>(start: () => PromiseLike<T>, report: Report): Promise<T> {
  try {
    return await start();
  } catch (error) {
    report({ error_type: textIn(field(error, 'name')) || 'Error' });
    throw error;
  }
}
