import { generateText, stepCountIs, tool } from 'ai';
import { expect } from 'chai';
import { z } from 'zod';
import { governTools } from '../../../client/adapters/ai-sdk.ts';
import { shutdown, type ApprovalRequest } from '../../../client/index.ts';
import { callOf, modelCalling } from '../../support/ai-sdk-model.ts';
import { bodiesOf, DECISIONS, startAuditServer } from '../../support/emission.ts';
import { forEachTest } from '../../support/for-each-test.ts';
import { policyYaml } from '../../support/platform.ts';

describe('@gatehouse/client/ai-sdk', () => {
  afterEach(() => shutdown());
  const mock = forEachTest(startAuditServer);
  let ran: unknown[];

  const tools = () => ({
    search: tool({
      inputSchema: z.object({ query: z.string() }),
      execute: async ({ query }) => {
        ran.push(query);
        return `found ${query}`;
      },
    }),
    write: tool({ inputSchema: z.object({ path: z.string() }), execute: ({ path }) => void ran.push(path) }),
    transfer: tool({
      inputSchema: z.object({ amount: z.number() }),
      execute: async function* ({ amount }) {
        yield 'working';
        ran.push(amount);
        yield `sent ${amount}`;
      },
    }),
  });

  beforeEach(() => void (ran = []));

  const governed = (onApproval?: (request: ApprovalRequest) => boolean) =>
    governTools(tools(), {
      agentName: 'support-bot',
      policy: policyYaml({ allow: ['search'] }),
      apiKey: 'k',
      baseUrl: mock.url,
      onApproval,
    });

  it('runs an allowed call and records it', async () => {
    const run = await (await governed()).startRun({ role: 'editor', userId: 'u-1', sessionId: 's-1' });
    const { text, steps } = await generateText({
      model: modelCalling(callOf('search', { query: 'cats' })),
      tools: run.tools,
      stopWhen: stepCountIs(3),
      prompt: 'Find cats.',
    });
    await shutdown();

    expect(text).to.equal('done');
    expect(steps[0]?.toolResults[0]?.output).to.equal('found cats');
    expect(ran).to.deep.equal(['cats']);
    expect(bodiesOf(mock, DECISIONS)).to.have.length(1);
    expect(bodiesOf(mock, DECISIONS)[0]).to.include({
      agent_name: 'support-bot',
      tool_name: 'search',
      outcome: 'allow',
      role: 'editor',
      user_id: 'u-1',
      session_id: 's-1',
    });
  });

  it('does not run a denied call, and gives the model the reason', async () => {
    const { tools } = await (await governed()).startRun();
    const model = modelCalling(callOf('write', { path: '/etc/passwd' }));
    const { steps } = await generateText({ model, tools, stopWhen: stepCountIs(3), prompt: 'Write.' });
    await shutdown();
    const fault = steps[0]?.content.find((part) => part.type === 'tool-error');

    expect(ran).to.deep.equal([]);
    expect(fault?.error).to.include({ name: 'PolicyDeniedError', reason: 'Role may not use this tool.' });
    expect(JSON.stringify(model.doGenerateCalls[1]?.prompt)).to.include('Role may not use this tool.');
    expect(bodiesOf(mock, DECISIONS).map(({ outcome }) => outcome)).to.deep.equal(['deny']);
  });

  for (const isApproved of [true, false]) {
    it(`a call that needs approval ${isApproved ? 'runs after a yes' : 'does not run after a no'}`, async () => {
      const asked: ApprovalRequest[] = [];
      const binding = await governed((request) => {
        asked.push(request);
        return isApproved;
      });
      const { tools } = await binding.startRun();
      const model = modelCalling(callOf('transfer', { amount: 5 }));
      const { steps } = await generateText({ model, tools, stopWhen: stepCountIs(3), prompt: 'Pay.' });
      await shutdown();

      expect(asked[0]).to.deep.include({ tool: 'transfer', arguments: { amount: 5 } });
      expect(ran).to.deep.equal(isApproved ? [5] : []);
      expect(steps[0]?.toolResults.map(({ output }) => output)).to.deep.equal(isApproved ? ['sent 5'] : []);
      expect(bodiesOf(mock, DECISIONS).map(({ outcome }) => outcome)).to.deep.equal(['needs_approval']);
    });
  }

  class Search {
    readonly #store = 'found';
    get description() {
      return `Searches what is ${this.#store}`;
    }
    get inputSchema() {
      return z.object({ query: z.string() });
    }
    execute({ query }: { query: string }) {
      return `${this.#store} ${query}`;
    }
    toModelOutput() {
      return { type: 'text' as const, value: `for the model: ${this.#store}` };
    }
  }
  const literal = {
    store: 'found',
    description: 'Searches what is found',
    inputSchema: z.object({ query: z.string() }),
    execute({ query }: { query: string }) {
      return `${this.store} ${query}`;
    },
    toModelOutput() {
      return { type: 'text' as const, value: `for the model: ${this.store}` };
    },
  };
  for (const [kind, search] of [
    ['an instance of a class', new Search()],
    ['an object that uses this', literal],
    ['a frozen object', Object.freeze({ ...literal })],
  ] as const) {
    it(`a tool that is ${kind} runs, and the model sees its description and schema`, async () => {
      const policy = policyYaml({ allow: ['search'] });
      const binding = await governTools({ search }, { agentName: 'support-bot', policy });
      const { tools } = await binding.startRun();
      const model = modelCalling(callOf('search', { query: 'cats' }));
      const { steps } = await generateText({ model, tools, stopWhen: stepCountIs(3), prompt: 'Find.' });
      const [seen] = model.doGenerateCalls[0]?.tools ?? [];

      expect(steps[0]?.toolResults.map(({ output }) => output)).to.deep.equal(['found cats']);
      expect(seen).to.deep.include({ name: 'search', description: 'Searches what is found' });
      expect(seen).to.have.nested.property('inputSchema.properties.query');
      expect(JSON.stringify(model.doGenerateCalls[1]?.prompt)).to.include('for the model: found');
    });
  }

  it('a tool that streams still streams', async () => {
    const binding = await governTools(
      {
        stream: tool({
          inputSchema: z.object({}),
          execute: async function* () {
            yield 'one';
            yield 'two';
          },
        }),
      },
      { agentName: 'a', policy: 'version: 1\ntools: [stream]\nroles: {"*": {allow: [stream]}}\nrules: []\n' },
    );
    const { tools } = await binding.startRun();
    const { steps } = await generateText({
      model: modelCalling(callOf('stream', {})),
      tools,
      stopWhen: stepCountIs(3),
      prompt: 'Go.',
    });

    expect(steps[0]?.toolResults[0]?.output).to.equal('two');
  });
});
