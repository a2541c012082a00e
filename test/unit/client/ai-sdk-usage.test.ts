import { generateText, simulateReadableStream, stepCountIs, streamText, tool, wrapLanguageModel } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { expect } from 'chai';
import { z } from 'zod';
import { governTools } from '../../../client/adapters/ai-sdk.ts';
import { shutdown } from '../../../client/index.ts';
import { callOf, modelCalling, usage } from '../../support/ai-sdk-model.ts';
import { bodiesOf, startAuditServer, USAGE } from '../../support/emission.ts';
import type { MockServer } from '../../support/mock-server.ts';
import { policyYaml } from '../../support/platform.ts';

describe('token usage from the AI SDK', () => {
  let mock: MockServer;

  beforeEach(async () => {
    mock = await startAuditServer();
  });

  afterEach(async () => {
    await shutdown();
    await mock.close();
  });

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

  it('reports the tokens of every model call as the SDK counts them', async () => {
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

  it('reports a stream when it finishes, and changes nothing of it', async () => {
    const { usage: middleware } = await (await governed()).startRun();
    const chunks = [
      { type: 'text-start', id: '1' },
      { type: 'text-delta', id: '1', delta: 'hello' },
      { type: 'text-end', id: '1' },
      { type: 'finish', finishReason: { unified: 'length', raw: undefined }, usage },
    ] as const;
    const inner = new MockLanguageModelV4({
      doStream: { stream: simulateReadableStream({ chunks: [...chunks] }) },
    });
    const result = streamText({
      model: wrapLanguageModel({ model: inner, middleware }),
      prompt: 'Say hello.',
    });

    expect(await result.text).to.equal('hello');
    await shutdown();
    expect(bodiesOf(mock, USAGE)).to.have.length(1);
    expect(bodiesOf(mock, USAGE)[0]).to.include({ output_tokens: 20, finish_reason: 'length' });
  });

  it('reports a call that failed, and lets it fail', async () => {
    const { usage: middleware } = await (await governed()).startRun();
    const inner = new MockLanguageModelV4({
      doGenerate: () => {
        throw new RangeError('too long');
      },
    });
    const model = wrapLanguageModel({ model: inner, middleware });
    const fault: unknown = await generateText({ model, prompt: 'x', maxRetries: 0 }).catch(
      (error: unknown) => error,
    );
    await shutdown();

    expect(fault).to.be.instanceOf(RangeError);
    expect(bodiesOf(mock, USAGE)[0]).to.include({ error_type: 'RangeError', input_tokens: 0 });
  });
});
