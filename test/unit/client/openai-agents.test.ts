import { Agent, RunContext, Runner, shellTool, tool, webSearchTool } from '@openai/agents';
import { assistantMessage, functionCall, modelResponder, ScriptedModel } from '@openai/agents/testing';
import { expect } from 'chai';
import { z } from 'zod';
import { governTools } from '../../../client/adapters/openai-agents.ts';
import { ValueError, type ApprovalContext, type RunOptions } from '../../../client/index.ts';
import { startAgentWorld } from '../../support/agent-world.ts';
import { forEachTest } from '../../support/for-each-test.ts';
import { conditionally } from '../../support/platform.ts';
import { AGENT_ROUTE } from '../../support/policy-world.ts';

describe('@gatehouse/client/openai-agents', () => {
  const world = forEachTest(startAgentWorld);
  const named = (name: string, parameters = z.object({ query: z.string() })) =>
    tool({ name, description: name, parameters, execute: (args) => world.toolNamed(name)(args) as string });
  const runner = new Runner({ tracingDisabled: true });
  const fetches = (): number => world.mock.seen(AGENT_ROUTE).length;

  it('denies arguments that are not JSON, even of a tool that would take them', async () => {
    const { tools } = await governTools([named('search')], world.options);
    const custom = { ...named('search'), invoke: async () => void world.ran.push(['search']) };
    const { tools: customs } = await governTools([custom], world.options);

    for (const own of [...tools, ...customs])
      expect(await own.invoke(new RunContext(), '{"query": ')).to.include('"violations":["bad_call"]');
    expect(world.ran).to.deep.equal([]);
  });

  it('gives the tool the decided value if a key occurs twice', async () => {
    const custom = { ...named('search'), invoke: async (_: unknown, input: string) => input };
    const { tools } = await governTools([custom], world.options);

    expect(await tools[0]?.invoke(new RunContext(), '{"query":"cats","query":"dogs"}')).to.equal(
      '{"query":"dogs"}',
    );
    expect((await world.events())[0]?.arguments).to.deep.equal({ query: 'dogs' });
  });

  it('runs a tool that inherits its members, as an instance of a class does', async () => {
    const own = Object.create(named('search')) as ReturnType<typeof named>;
    const { tools } = await governTools([own], world.options);
    const call = functionCall('search', { query: 'cats' }, { callId: 'call_1' });
    const model = new ScriptedModel([[call], [assistantMessage('done')]]);
    await runner.run(new Agent({ name: 'support-bot', model, tools }), 'Go.');

    expect(world.ran).to.deep.equal([['search', { query: 'cats' }]]);
    expect(model.calls[0]?.request.tools[0]).to.include({ name: 'search', description: 'search' });
  });

  it('gives the approver the id of the call, and the signal of the run', async () => {
    const asked: ApprovalContext[] = [];
    const abort = new AbortController();
    const onApproval = (_: unknown, context: ApprovalContext): Promise<boolean> => {
      asked.push(context);
      setImmediate(() => abort.abort());
      return new Promise(() => undefined);
    };
    const { tools } = await governTools([named('transfer')], { ...world.options, onApproval });
    const call = functionCall('transfer', { query: 'cats' }, { callId: 'call_1' });
    const model = new ScriptedModel([[call], [assistantMessage('done')]]);
    const agent = new Agent({ name: 'support-bot', model, tools });
    await runner.run(agent, 'Go.', { signal: abort.signal }).catch(() => undefined);

    expect(asked[0]?.callId).to.equal('call_1');
    expect(asked[0]?.signal?.aborted).to.equal(true);
    expect(world.ran).to.deep.equal([]);
  });

  it('is one run across handoffs and the SDK’s own approvals', async () => {
    const careful = { ...named('search'), needsApproval: () => Promise.resolve(true) };
    const { tools } = await governTools([careful], world.options);
    const call = functionCall('search', { query: 'cats' }, { callId: '1' });
    const model = new ScriptedModel([
      [functionCall('transfer_to_second', {}, { callId: '0' })],
      [call],
      [assistantMessage('done')],
    ]);
    const second = new Agent({ name: 'second', model, tools });
    const first = new Agent({ name: 'first', model, tools, handoffs: [second] });
    const paused = await runner.run(first, 'Go.');
    for (const interruption of paused.interruptions) paused.state.approve(interruption);
    const { finalOutput } = await runner.run(first, paused.state);

    expect(finalOutput).to.equal('done');
    expect(world.ran).to.have.length(1);
    expect(fetches()).to.equal(2);
  });

  it('each run with the same RunContext refreshes the policy and determines the caller', async () => {
    const { tools } = await governTools([named('write')], {
      ...world.options,
      caller: (context: RunOptions) => context,
    });
    const write = functionCall('write', { query: 'cats' }, { callId: '1' });
    const done = assistantMessage('done');
    const model = new ScriptedModel([[write], [done], [write], [done], [write], [done]]);
    const agent = new Agent<RunOptions>({ name: 'support-bot', model, tools });
    const context = new RunContext<RunOptions>({ userId: 'u-1' });
    await runner.run(agent, 'Go.', { context });
    world.mock.on(AGENT_ROUTE, conditionally(world.v2));
    context.context.userId = 'u-2';
    await runner.run(agent, 'Go.', { context });
    await runner.run(agent.clone({ name: 'clone' }), 'Go.', { context });

    expect((await world.events()).map(({ outcome, user_id }) => [outcome, user_id])).to.deep.equal([
      ['deny', 'u-1'],
      ['allow', 'u-2'],
      ['allow', 'u-2'],
    ]);
    expect(fetches()).to.equal(4);
  });

  it('an agent that is used as a tool begins a run of its own, and its caller keeps the policy', async () => {
    const { tools } = await governTools([named('write')], world.options);
    const write = functionCall('write', { query: 'cats' }, { callId: '1' });
    const done = assistantMessage('done');
    const inner = new Agent({ name: 'inner', model: new ScriptedModel([[write], [done]]), tools });
    const ask = inner.asTool({ toolName: 'ask', toolDescription: 'ask' });
    const model = new ScriptedModel([
      modelResponder(() => {
        world.mock.on(AGENT_ROUTE, conditionally(world.v2));
        return [functionCall('ask', { input: 'Go.' }, { callId: '0' })];
      }),
      [write],
      [done],
    ]);
    await runner.run(new Agent({ name: 'support-bot', model, tools: [...tools, ask] }), 'Go.');

    expect((await world.events()).map(({ outcome }) => outcome)).to.deep.equal(['allow', 'deny']);
    expect(fetches()).to.equal(3);
  });

  it('lets a tool decide whether it is enabled', async () => {
    const search = tool({
      name: 'search',
      description: 'search',
      parameters: z.object({}),
      execute: () => '',
      isEnabled: ({ runContext }) => (runContext.context as RunOptions).role === 'editor',
    });
    const { tools } = await governTools([search, webSearchTool()], world.options);
    const agent = new Agent<RunOptions>({ name: 'support-bot', tools });
    const namesFor = async (role: string) =>
      (await agent.getAllTools(new RunContext({ role }))).map(({ name }) => name);

    expect(await namesFor('editor')).to.deep.equal(['search', 'web_search']);
    expect(await namesFor('viewer')).to.deep.equal(['web_search']);
  });

  it('refuses tools that run here and cannot be governed', async () => {
    const shell = shellTool({ shell: { run: () => expect.fail('it ran') } });
    const fault: unknown = await governTools([shell], world.options).catch((error: unknown) => error);

    expect(fault).to.be.instanceOf(ValueError);
    expect(fault).to.have.property('message').that.includes('of type shell');
  });
});
