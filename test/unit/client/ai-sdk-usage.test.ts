import { generateText, simulateReadableStream, stepCountIs, streamText, tool, wrapLanguageModel } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { expect } from 'chai';
import { z } from 'zod';
import { governTools } from '../../../client/adapters/ai-sdk.ts';
import { shutdown } from '../../../client/index.ts';
import { callOf, modelCalling, usage } from '../../support/ai-sdk-model.ts';
import { bodiesOf, startAuditServer, USAGE } from '../../support/emission.ts';
import { forEachTest } from '../../support/for-each-test.ts';
import { policyYaml } from '../../support/platform.ts';

describe('token usage from the AI SDK', () => {
  afterEach(() => shutdown());
  const mock = forEachTest(startAuditServer);

  const governed = () =>
    governTools(
      { search: tool({ inputSchema: z.object({ query: z.string() }), execute: () => 'found' }) },
      {
        agentName: 'support-bot',
        policy: policyYaml({ allow: ['search'] }),
        apiKey: 'k',
        baseUrl: mock.url,
      },
    );

  /** The model under the middleware of a run. */
  const recording = async (options: ConstructorParameters<typeof MockLanguageModelV4>[0]) => {
    const { usage: middleware } = await (await governed()).startRun();
    return wrapLanguageModel({ model: new MockLanguageModelV4(options), middleware });
  };

  it('records the tokens of every model call as the SDK counts them', async () => {
    const { tools, usage: middleware } = await (await governed()).startRun({ userId: 'u-1' });
    const model = wrapLanguageModel({ model: modelCalling(callOf('search', { query: 'x' })), middleware });
    await generateText({ model, tools, stopWhen: stepCountIs(3), prompt: 'Find.' });
    await shutdown();
    const reported = bodiesOf(mock, USAGE);

    expect(reported).to.have.length(2);
    expect(reported[0]).to.include({
      agent_name: 'support-bot',
      model: 'mock-1',
      provider: 'mock',
      operation: 'chat',
      input_tokens: 100,
      output_tokens: 20,
      cached_input_tokens: 40,
      reasoning_tokens: 5,
      finish_reason: 'tool-calls',
      error_type: '',
      user_id: 'u-1',
    });
    expect(reported[1]).to.include({ finish_reason: 'stop' });
  });

  it('records a stream when it finishes, and does not change it', async () => {
    const chunks = [
      { type: 'text-start', id: '1' },
      { type: 'text-delta', id: '1', delta: 'hello' },
      { type: 'text-end', id: '1' },
      { type: 'finish', finishReason: { unified: 'length', raw: undefined }, usage },
    ] as const;
    const model = await recording({ doStream: { stream: simulateReadableStream({ chunks: [...chunks] }) } });
    const result = streamText({ model, prompt: 'Say hello.' });

    expect(await result.text).to.equal('hello');
    await shutdown();
    expect(bodiesOf(mock, USAGE)).to.have.length(1);
    expect(bodiesOf(mock, USAGE)[0]).to.include({ output_tokens: 20, finish_reason: 'length' });
  });

  describe('of a model of ai 5', () => {
    const counts = { inputTokens: 5, outputTokens: 7, cachedInputTokens: 2, reasoningTokens: 3 };
    const stored = {
      input_tokens: 5,
      output_tokens: 7,
      cached_input_tokens: 2,
      reasoning_tokens: 3,
      finish_reason: 'stop',
    };
    const unknown = { inputTokens: undefined, outputTokens: undefined, totalTokens: undefined };
    const none = { input_tokens: 0, output_tokens: 0, cached_input_tokens: 0, reasoning_tokens: 0 };
    const odd = { inputTokens: NaN, outputTokens: -1, cachedInputTokens: 1.5, reasoningTokens: Infinity };
    for (const { what, finished, expected } of [
      { what: 'records its counts', finished: { usage: counts, finishReason: 'stop' }, expected: stored },
      { what: 'records 0 for unknown counts', finished: { usage: unknown }, expected: none },
      { what: 'records 0 for counts that are none', finished: { usage: odd }, expected: none },
      { what: 'records 0 without a usage', finished: {}, expected: none },
    ]) {
      const modelAnswering = () =>
        recording({
          doGenerate: { content: [], warnings: [], ...finished } as never,
          doStream: {
            stream: simulateReadableStream({ chunks: [{ type: 'finish', ...finished }] as never[] }),
          },
        });

      it(`${what}, and does not change the answer`, async () => {
        const answer = await (await modelAnswering()).doGenerate({ prompt: [] });
        await shutdown();

        expect(answer).to.deep.equal({ content: [], warnings: [], ...finished });
        expect(bodiesOf(mock, USAGE)[0]).to.include(expected);
      });

      it(`${what}, and does not change the stream`, async () => {
        const { stream } = await (await modelAnswering()).doStream({ prompt: [] });
        const { value } = await stream.getReader().read();
        await shutdown();

        expect(value).to.deep.equal({ type: 'finish', ...finished });
        expect(bodiesOf(mock, USAGE)[0]).to.include(expected);
      });
    }
  });

  const refuse = (): never => {
    throw new Error('cannot be read');
  };
  const unreadable = new Proxy({}, { get: refuse });

  for (const { what, finished } of [
    { what: 'counts', finished: { usage: unreadable } },
    { what: 'totals', finished: { usage: { inputTokens: unreadable, outputTokens: 9 } } },
    { what: 'a reason', finished: { usage: {}, finishReason: unreadable } },
    { what: 'a usage', finished: Object.defineProperty({}, 'usage', { get: refuse }) },
  ]) {
    const part = Object.defineProperties({ type: 'finish' }, Object.getOwnPropertyDescriptors(finished));
    const answered = () =>
      recording({
        doGenerate: () => Promise.resolve(finished as never),
        doStream: { stream: simulateReadableStream({ chunks: [part, { type: 'raw' }] as never[] }) },
      });

    it(`records 0 for ${what} that cannot be read, and does not fail the call`, async () => {
      expect(await (await answered()).doGenerate({ prompt: [] })).to.equal(finished);
      await shutdown();

      expect(bodiesOf(mock, USAGE)).to.have.length(1);
      expect(bodiesOf(mock, USAGE)[0]).to.include({ input_tokens: 0, error_type: '', finish_reason: '' });
    });

    it(`records 0 for ${what} that cannot be read, and does not end the stream`, async () => {
      const types: string[] = [];
      const { stream } = await (await answered()).doStream({ prompt: [] });
      for await (const { type } of stream) types.push(type);
      await shutdown();

      expect(types).to.deep.equal(['finish', 'raw']);
      expect(bodiesOf(mock, USAGE)).to.have.length(1);
      expect(bodiesOf(mock, USAGE)[0]).to.include({ input_tokens: 0, error_type: '', finish_reason: '' });
    });
  }

  it('records whole milliseconds, none below 0, when the clock is set back during a call', async () => {
    const { now } = Date;
    let setBackMs = 0;
    Date.now = () => now() - setBackMs;
    try {
      const model = await recording({
        doGenerate: () => {
          setBackMs = 3_600_000;
          return Promise.resolve({ content: [], warnings: [] } as never);
        },
      });
      await model.doGenerate({ prompt: [] });
    } finally {
      Date.now = now;
    }
    await shutdown();
    const duration = Number(bodiesOf(mock, USAGE)[0]?.['duration_ms']);

    expect(duration).to.be.within(0, 10_000);
    expect(Number.isInteger(duration)).to.equal(true);
  });

  const partial = [
    { type: 'text-start', id: '1' },
    { type: 'text-delta', id: '1', delta: 'hel' },
  ] as const;

  /** The stream that the middleware returns, without the SDK. */
  const streamed = async (stream: ReadableStream<(typeof partial)[number]>) =>
    (await (await recording({ doStream: { stream } })).doStream({ prompt: [] })).stream;

  it('records a stream that fails, once, and passes the failure on', async () => {
    const broken = new ReadableStream<(typeof partial)[number]>({
      start: (controller) => {
        for (const part of partial) controller.enqueue(part);
      },
      pull: (controller) => controller.error(new TypeError('terminated')),
    });
    const seen: unknown[] = [];
    const fault = await (async () => {
      for await (const part of await streamed(broken)) seen.push(part);
    })().catch((error: unknown) => error);
    await shutdown();

    expect(fault).to.be.instanceOf(TypeError);
    expect(seen).to.deep.equal([...partial]);
    expect(bodiesOf(mock, USAGE)).to.have.length(1);
    expect(bodiesOf(mock, USAGE)[0]).to.include({ error_type: 'TypeError', output_tokens: 0 });
  });

  it('records a cancelled stream, and cancels the stream of the model', async () => {
    let cancelledWith: unknown;
    const endless = new ReadableStream<(typeof partial)[number]>({
      pull: (controller) => controller.enqueue(partial[0]),
      cancel: (reason) => {
        cancelledWith = reason;
      },
    });
    const reader = (await streamed(endless)).getReader();
    await reader.read();
    await reader.cancel('enough');
    await shutdown();

    expect(cancelledWith).to.equal('enough');
    expect(bodiesOf(mock, USAGE).map(({ error_type }) => error_type)).to.deep.equal(['AbortError']);
  });

  it('records a stream that ends without a finish as a failure', async () => {
    const cut = simulateReadableStream({ chunks: [...partial] });
    for await (const _part of await streamed(cut));
    await shutdown();

    expect(bodiesOf(mock, USAGE).map(({ error_type }) => error_type)).to.deep.equal(['Error']);
  });

  it('records a failed call, and passes the failure on', async () => {
    const model = await recording({
      doGenerate: () => {
        throw new RangeError('too long');
      },
    });
    const fault: unknown = await generateText({ model, prompt: 'x', maxRetries: 0 }).catch(
      (error: unknown) => error,
    );
    await shutdown();

    expect(fault).to.be.instanceOf(RangeError);
    expect(bodiesOf(mock, USAGE)[0]).to.include({ error_type: 'RangeError', input_tokens: 0 });
  });

  it('passes a failure on whose name cannot be read', async () => {
    const failure = Object.defineProperty(new Error('failed'), 'name', { get: refuse });
    const model = await recording({ doGenerate: () => Promise.reject(failure) });
    const call = Promise.resolve(model.doGenerate({ prompt: [] }));
    const fault: unknown = await call.catch((error: unknown) => error);
    await shutdown();

    expect(fault === failure).to.equal(true);
    expect(bodiesOf(mock, USAGE)[0]).to.include({ error_type: 'Error' });
  });
});
