import { writeFile } from 'node:fs/promises';
import { generateText, stepCountIs, streamText, tool, ToolLoopAgent, type ModelMessage } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { expect } from 'chai';
import { z } from 'zod';
import { governTools, type AiSdkRun } from '../../../client/adapters/ai-sdk.ts';
import { SdkRuns } from '../../../client/adapters/ai-sdk-runs.ts';
import { bindPolicy } from '../../../client/index.ts';
import { callOf, modelCalling } from '../../support/ai-sdk-model.ts';
import { forEachTest } from '../../support/for-each-test.ts';
import { conditionally, policyYaml } from '../../support/platform.ts';
import { AGENT_ROUTE, startPolicyWorld } from '../../support/policy-world.ts';
import { temporaryFile } from '../../support/temporary-file.ts';

const POLICY = policyYaml({ allow: ['search'] });
const UNSEEN = /^A run of the AI SDK was not seen to begin/;

describe('@gatehouse/client/ai-sdk refreshes at the top of each run', () => {
  const world = forEachTest(startPolicyWorld);
  let ran: string[];
  beforeEach(() => void (ran = []));

  const inputSchema = z.object({});
  const tools = {
    search: tool({ inputSchema, execute: () => void ran.push('search') }),
    write: tool({ inputSchema, execute: () => void ran.push('write') }),
  };
  type Tools = typeof tools;

  const options = () => {
    const { key, mock, logger } = world;
    return { agentName: 'support-bot', key, baseUrl: mock.url, logger };
  };
  const governed = (more: object = {}) => governTools(tools, { ...options(), ...more });
  /** Refreshes so far, without the first fetch. */
  const refreshes = (): number => world.mock.seen(AGENT_ROUTE).length - 1;
  const unseen = () => world.logger.at('warn').filter((message) => UNSEEN.test(message));
  const publish = (record: Record<string, unknown>) => world.mock.on(AGENT_ROUTE, conditionally(record));

  type Given = Partial<AiSdkRun<Tools>> & { messages?: ModelMessage[]; model?: MockLanguageModelV4 };
  const generate = ({ tools: governedTools = tools, prepareStep, messages, model }: Given) =>
    generateText({
      model: model ?? modelCalling(callOf('write', {})),
      tools: governedTools,
      ...(prepareStep && { prepareStep }),
      stopWhen: stepCountIs(5),
      ...(messages ? { messages } : { prompt: 'Write.' }),
    });

  it('with prepareStep: before the model is asked, once, for every generateText', async () => {
    const run = await governed();
    const seen: number[] = [];
    const model = modelCalling(callOf('search', {}), callOf('write', {}));
    const { doGenerate } = model;
    model.doGenerate = (options) => {
      seen.push(refreshes());
      return doGenerate(options);
    };
    await generate({ ...run, model });
    publish(world.v2);
    await generate(run);

    expect(seen).to.deep.equal([1, 1]);
    expect(refreshes()).to.equal(2);
    expect(ran).to.deep.equal(['search', 'write']);
    expect(world.logger.at('warn')).to.deep.equal([]);
  });

  it('overlapping runs keep the policy they started with, even with equal call ids and messages', async () => {
    const run = await governed();
    const messages: ModelMessage[] = [{ role: 'user', content: 'Write.' }];
    const model = modelCalling(callOf('write', {}));
    const { doGenerate } = model;
    let isFirst = true;
    model.doGenerate = async (options) => {
      if (isFirst) {
        isFirst = false;
        publish(world.v2);
        await generate({ ...run, messages });
        expect(ran).to.deep.equal(['write']);
      }
      return doGenerate(options);
    };
    const { steps } = await generate({ ...run, messages, model });

    expect(steps[0]?.content.map(({ type }) => type)).to.include('tool-error');
    expect(ran).to.deep.equal(['write']);
    expect(refreshes()).to.equal(2);
  });

  it('without prepareStep: at the first tool call of each run, and says so once', async () => {
    const { tools: only } = await governed();
    const messages: ModelMessage[] = [{ role: 'user', content: 'Write.' }];
    const model = () => modelCalling(callOf('search', {}), callOf('write', {}));
    await generate({ tools: only, model: model() });
    await generate({ tools: only, messages, model: model() });
    publish(world.v2);
    await generate({ tools: only, messages, model: model() });
    await generate({ tools: only, messages: [...messages, { role: 'user', content: 'Again.' }] });

    expect(refreshes()).to.equal(4);
    expect(ran).to.deep.equal(['search', 'search', 'search', 'write', 'write']);
    expect(unseen()).to.have.length(1);
  });

  it('without prepareStep: where Promise is replaced, as by zone.js', async () => {
    const { tools: only } = await governed();
    const { Promise } = globalThis;
    globalThis.Promise = class extends Promise<never> {} as PromiseConstructor;
    try {
      await generate({ tools: only, model: modelCalling(callOf('search', {})) });
    } finally {
      globalThis.Promise = Promise;
    }

    expect(ran).to.deep.equal(['search']);
  });

  it('startRun begins the next run; its tools may be used for more', async () => {
    const run = await (await governed()).startRun({ role: 'editor' });
    await generate(run);
    expect(refreshes()).to.equal(1);
    publish(world.v2);
    await generate(run);
    expect(refreshes()).to.equal(2);
    expect(unseen()).to.deep.equal([]);
    await generate({ tools: run.tools });

    expect(refreshes()).to.equal(3);
    expect(ran).to.deep.equal(['write', 'write']);
    expect(unseen()).to.have.length(1);
  });

  it('for streamText and for agents', async () => {
    const { tools: own, prepareStep } = await governed();
    const stream = streamText({
      model: modelCalling(callOf('search', {})),
      tools: own,
      prepareStep,
      stopWhen: stepCountIs(5),
      prompt: 'Search.',
    });
    await stream.consumeStream();
    const agent = new ToolLoopAgent({ model: modelCalling(callOf('search', {})), tools: own, prepareStep });
    await agent.generate({ prompt: 'Search.' });

    expect(refreshes()).to.equal(2);
    expect(ran).to.deep.equal(['search', 'search']);
    expect(unseen()).to.deep.equal([]);
  });

  it('a run that resumes with the SDK’s own approvals is one run', async () => {
    const write = tool({ inputSchema, needsApproval: true, execute: () => void ran.push('write') });
    const binding = await governTools({ write }, options());
    const { prepareStep } = binding;
    const ask = (messages: ModelMessage[], model: MockLanguageModelV4) =>
      generateText({ model, tools: binding.tools, prepareStep, messages, stopWhen: stepCountIs(5) });
    const messages: ModelMessage[] = [{ role: 'user', content: 'Write.' }];
    const asked = await ask(messages, modelCalling(callOf('write', {})));
    const request = asked.content.find(({ type }) => type === 'tool-approval-request');
    const approvalId = request && 'approvalId' in request ? request.approvalId : '';
    publish(world.v2);
    const answer = { type: 'tool-approval-response', approvalId, approved: true } as const;
    await ask(
      [...messages, ...asked.response.messages, { role: 'tool', content: [answer] }],
      modelCalling(callOf('write', {})),
    );

    expect(refreshes()).to.equal(2);
    expect(ran).to.deep.equal(['write']);
    expect(unseen()).to.deep.equal([]);
  });

  it('a tool that streams still streams after the first call of a run without prepareStep', async () => {
    const execute = async function* () {
      yield 'one';
    };
    const { tools: only } = await governTools({ search: tool({ inputSchema, execute }) }, options());
    const call = (messages: ModelMessage[]) =>
      only.search.execute?.({}, { toolCallId: '1', messages, context: {} });
    const messages: ModelMessage[] = [{ role: 'user', content: 'Search.' }];
    const first: unknown = call(messages);
    expect(await first).to.equal('one');

    expect(call([...messages, { role: 'assistant', content: 'Again.' }])).to.have.property(
      Symbol.asyncIterator,
    );
  });

  it('an approval of the SDK begins a run, even after the same message of the user', async () => {
    const { tools: only } = await governed();
    const call = (messages: ModelMessage[]) =>
      only.search.execute?.({}, { toolCallId: '1', messages, context: {} });
    const messages: ModelMessage[] = [{ role: 'user', content: 'Search.' }];
    const answer = { type: 'tool-approval-response', approvalId: '1', approved: true } as const;
    await call(messages);
    await call([...messages, { role: 'assistant', content: 'May I?' }, { role: 'tool', content: [answer] }]);

    expect(refreshes()).to.equal(2);
    expect(unseen()).to.have.length(1);
  });

  it('runs no tool when the policy cannot be refreshed, and tries again at the next call', async () => {
    const localPolicy = await temporaryFile('policy.yaml', POLICY);
    const { tools: only } = await governed({ localPolicy });
    const messages: ModelMessage[] = [{ role: 'user', content: 'Search.' }];
    const call = async (): Promise<unknown> =>
      only.search.execute?.({}, { toolCallId: '1', messages, context: {} });
    await writeFile(localPolicy, '');
    const fault: unknown = await call().catch((error: unknown) => error);
    expect(fault).to.have.property('code', 'policy_invalid');
    expect(ran).to.deep.equal([]);
    await writeFile(localPolicy, POLICY);
    await call();

    expect(ran).to.deep.equal(['search']);
  });

  it('with ai 5 and 6, which give tools the messages of the step instead of those of prepareStep', async () => {
    const binding = await bindPolicy({ agentName: 'support-bot', policy: POLICY });
    const runs = new SdkRuns({
      start: () => binding.startRun(),
      onUnseen: () => expect.fail('it was seen'),
    });
    const begin = async () => {
      // streamText of ai 5 creates a new message from the prompt for each step.
      const asked = (): ModelMessage => ({ role: 'user', content: 'Write.' });
      const [steps, first, second]: [unknown[], ModelMessage[], ModelMessage[]] = [
        [],
        [asked()],
        [asked(), { role: 'assistant', content: 'Later.' }],
      ];
      await runs.prepareStep({ stepNumber: 0, messages: first, steps });
      const run = runs.of(first);
      return async () => {
        await runs.prepareStep({ stepNumber: 1, messages: second, steps });
        expect(runs.of(second)).to.equal(run);
        return run;
      };
    };
    const [goOn, goOnOther] = [await begin(), await begin()];

    expect(await goOn()).not.to.equal(await goOnOther());
  });
});
