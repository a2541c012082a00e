import { Command, interrupt, MemorySaver } from '@langchain/langgraph';
import { AIMessage, createAgent, createMiddleware, fakeModel, tool, ToolMessage } from 'langchain';
import { AIMessageChunk } from '@langchain/core/messages';
import { ChatGenerationChunk } from '@langchain/core/outputs';
import { FakeStreamingChatModel } from '@langchain/core/utils/testing';
import { expect } from 'chai';
import { z } from 'zod';
import { governMiddleware } from '../../../client/adapters/langchain.ts';
import type { ApprovalContext, BindingOptions, RunOptions } from '../../../client/index.ts';
import { startAgentWorld } from '../../support/agent-world.ts';
import { forEachTest } from '../../support/for-each-test.ts';
import { conditionally } from '../../support/platform.ts';
import { AGENT_ROUTE } from '../../support/policy-world.ts';

const GO = { messages: [{ role: 'user', content: 'Go.' }] };
const callOf = (name: string) => ({ name, args: { query: 'cats' }, id: name });

describe('@gatehouse/client/langchain', () => {
  const world = forEachTest(startAgentWorld);
  const named = (name: string) =>
    tool((args) => world.toolNamed(name)(args), { name, schema: z.object({ query: z.string() }) });
  const tools = [named('search'), named('write'), named('transfer')];
  const caller = ({ context = {} }: { context?: RunOptions }) => context;
  const governed = (more: Omit<BindingOptions, 'agentName'> = {}) =>
    governMiddleware({ ...world.options, caller, ...more });
  const fetches = (): number => world.mock.seen(AGENT_ROUTE).length;

  it('an approver may pause the graph with interrupt, and the answer resumes it', async () => {
    const asked: (string | undefined)[] = [];
    const { middleware } = await governed({
      onApproval: ({ tool: name }, { callId }: ApprovalContext) => {
        asked.push(callId);
        return interrupt(`May ${name} run?`) === 'yes';
      },
    });
    const model = fakeModel()
      .respondWithTools([callOf('search'), callOf('transfer')])
      .respond(new AIMessage('done'));
    const agent = createAgent({ model, tools, middleware: [middleware], checkpointer: new MemorySaver() });
    const config = { configurable: { thread_id: '1' }, context: { role: 'editor' } };
    const paused = await agent.invoke(GO, config);
    expect(paused).to.have.nested.property('__interrupt__[0].value', 'May transfer run?');
    expect(world.ran.map(([name]) => name)).to.deep.equal(['search']);
    const { messages } = await agent.invoke(new Command({ resume: 'yes' }), config);

    expect(messages.at(-1)?.content).to.equal('done');
    expect(world.ran.map(([name]) => name)).to.deep.equal(['search', 'transfer']);
    expect(asked).to.deep.equal(['transfer', 'transfer']);
    // A run that resumes from a checkpoint is a new one.
    expect(fetches()).to.equal(3);
  });

  it('overlapping runs that get the same answer of a cache keep their policies', async () => {
    const { middleware } = await governed();
    const answer = new AIMessage({ content: '', tool_calls: [callOf('write')] });
    const cache = createMiddleware({
      name: 'Cache',
      wrapModelCall: (request, handler) => (request.messages.length === 1 ? answer : handler(request)),
    });
    let others = 1;
    const overlap = createMiddleware({
      name: 'Overlap',
      afterModel: async () => {
        world.mock.on(AGENT_ROUTE, conditionally(world.v2));
        if (others-- > 0) await run();
      },
    });
    const run = () => {
      const model = fakeModel().respond(new AIMessage('done'));
      return createAgent({ model, tools, middleware: [overlap, middleware, cache] }).invoke(GO, {
        context: {},
      });
    };
    const { messages } = await run();

    expect(messages[2]?.content).to.include('write is denied');
    expect(world.ran.map(([name]) => name)).to.deep.equal(['write']);
  });

  /** A model that calls the tool in each of two runs. */
  const twice = (name: string) =>
    fakeModel()
      .respondWithTools([callOf(name)])
      .respond(new AIMessage('done'))
      .respondWithTools([callOf(name)])
      .respond(new AIMessage('done'));
  const beforeIt = createMiddleware({
    name: 'Jump',
    beforeAgent: { canJumpTo: ['model'], hook: () => ({ jumpTo: 'model' as const }) },
  });
  for (const [what, others] of [
    ['', []],
    [', even where middleware skips its beginning', [beforeIt]],
  ] as const) {
    it(`a history that another run made begins a run of its own${what}`, async () => {
      const { middleware } = await governed();
      const agent = createAgent({ model: twice('search'), tools, middleware: [...others, middleware] });
      const { messages } = await agent.invoke(GO, { context: { userId: 'u-1' } });
      await agent.invoke({ messages: messages.slice(0, -1) }, { context: { userId: 'u-2' } });

      expect(fetches()).to.equal(3);
      expect((await world.events()).map(({ user_id }) => user_id)).to.deep.equal(['u-1', 'u-2']);
    });
  }

  it('a history that the same caller made begins a run of its own', async () => {
    const { middleware } = await governed();
    const agent = createAgent({ model: twice('write'), tools, middleware: [middleware] });
    const { messages } = await agent.invoke(GO, { context: {} });
    world.mock.on(AGENT_ROUTE, conditionally(world.v2));
    await agent.invoke({ messages }, { context: {} });

    expect(world.ran.map(([name]) => name)).to.deep.equal(['write']);
  });

  it('a model that is asked again is asked in the same run', async () => {
    const { middleware } = await governed();
    const again = createMiddleware({
      name: 'Again',
      wrapModelCall: async (request, handler) => {
        await handler(request);
        return handler(request);
      },
    });
    const model = fakeModel()
      .respond(new AIMessage('what?'))
      .respondWithTools([callOf('write')])
      .respond(new AIMessage('what?'))
      .respond(new AIMessage('done'));
    const agent = createAgent({ model, tools, middleware: [again, middleware] });
    const { messages } = await agent.invoke(GO, { context: {} });
    const refused = messages.find((message) => ToolMessage.isInstance(message));

    expect(fetches()).to.equal(2);
    expect(refused).to.include({ status: 'error', name: 'write', tool_call_id: 'write' });
  });

  type Streamed = ReturnType<typeof createAgent>;
  const streams: Record<string, (agent: Streamed) => Promise<AsyncIterable<unknown>>> = {
    stream: (agent) => agent.stream(GO, { context: {}, streamMode: 'messages' }),
    streamEvents: async (agent) => agent.streamEvents(GO, { context: {}, version: 'v2' }),
  };
  for (const [name, start] of Object.entries(streams))
    it(`a run whose answers are streamed by ${name} keeps its policy`, async () => {
      const { middleware } = await governed();
      const steps = [[callOf('search')], [callOf('write')], []];
      const model = Object.assign(new FakeStreamingChatModel({}), {
        bindTools: () => model,
        async *_streamResponseChunks() {
          world.mock.on(AGENT_ROUTE, conditionally(world.v2));
          for (const { name, args, id } of steps.shift() ?? []) {
            const text = JSON.stringify(args);
            const chunks = [{ name, id, args: text.slice(0, 5) }, { args: text.slice(5) }];
            for (const chunk of chunks) {
              const message = new AIMessageChunk({ content: '', tool_call_chunks: [{ ...chunk, index: 0 }] });
              yield new ChatGenerationChunk({ text: '', message });
            }
          }
          yield new ChatGenerationChunk({ text: '', message: new AIMessageChunk('') });
        },
      }) as FakeStreamingChatModel;
      const agent = createAgent({ model, tools, middleware: [middleware] });
      for await (const part of await start(agent)) void part;

      expect(steps).to.deep.equal([]);
      expect(world.ran.map(([name]) => name)).to.deep.equal(['search']);
      expect(fetches()).to.equal(2);
    });
});
