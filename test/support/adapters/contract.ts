import { writeFile } from 'node:fs/promises';
import { expect } from 'chai';
import type { ApprovalContext, ApprovalRequest, BindingOptions, RunOptions } from '../../../client/index.ts';
import { startAgentWorld } from '../agent-world.ts';
import { DECISIONS } from '../emission.ts';
import { forEachTest } from '../for-each-test.ts';
import { conditionally, policyYaml } from '../platform.ts';
import { AGENT_ROUTE } from '../policy-world.ts';
import { temporaryFile } from '../temporary-file.ts';

/** A tool call that the model makes. */
export type ModelCall = { name: string; args: Record<string, unknown> };

/** The model's answers in order: the tool calls of each step. After the last step it says "done". */
export type Steps = ModelCall[][];

export type AskOptions = {
  caller?: RunOptions;
  isStreamed?: boolean;
  /** Called before each answer of the model. */
  onModel?: () => void;
};

/** Runs the agent once, and resolves with the result text of each call, as the model gets it. */
export type Ask = (steps: Steps, options: AskOptions) => Promise<string[]>;

export type TestTools = Record<string, (args: unknown) => unknown>;

/** How an agent of one framework is bound: tools search, write and transfer, and a model that follows instructions. */
export type AdapterHarness = {
  isStreaming: boolean;
  bind(tools: TestTools, options: BindingOptions & { agentName: string }): Promise<Ask>;
};

const SEARCH = { name: 'search', args: { query: 'cats' } };
const WRITE = { name: 'write', args: { path: '/etc' } };
const TRANSFER = { name: 'transfer', args: { amount: 5 } };
type Given = Omit<BindingOptions, 'agentName'> & { tools?: TestTools };

const CALLER = { role: 'editor', userId: 'u-1', sessionId: 's-1' };

/** The promises of every adapter, whatever its framework. */
export function adapterContract(name: string, harness: AdapterHarness): void {
  describe(`the adapter contract: ${name}`, () => {
    const world = forEachTest(startAgentWorld);
    const bound = ({ tools = world.agent.tools, ...more }: Given = {}) =>
      harness.bind(tools, { ...world.options, ...more });
    const told = async (call: ModelCall, more: Given = {}): Promise<string> =>
      (await (await bound(more))([[call]], { caller: CALLER }))[0] ?? '';
    const recorded = async (): Promise<unknown[]> =>
      (await world.events()).map(({ tool_name, outcome }) => `${String(tool_name)}: ${String(outcome)}`);

    it('runs an allowed call, and records it once with its caller', async () => {
      expect(await told(SEARCH)).to.include('search ran');
      expect(world.ran).to.deep.equal([['search', { query: 'cats' }]]);
      const events = await world.events();
      expect(events).to.have.length(1);
      expect(events[0]).to.deep.include({
        agent_name: 'support-bot',
        tool_name: 'search',
        arguments: { query: 'cats' },
        outcome: 'allow',
        role: 'editor',
        user_id: 'u-1',
        session_id: 's-1',
      });
    });

    it('does not run a denied call, and tells the model reason, violations and hint', async () => {
      const text = await told(WRITE);

      expect(text).to.include('Role may not use this tool.');
      expect(text).to.include('"violations":["role_not_allowed"]');
      expect(text).to.include('"hint":{"code":"role_not_allowed"');
      expect(world.ran).to.deep.equal([]);
      expect(await recorded()).to.deep.equal(['write: deny']);
    });

    it('runs a call once it is approved', async () => {
      const asked: [ApprovalRequest, ApprovalContext][] = [];
      const onApproval = async (...question: [ApprovalRequest, ApprovalContext]): Promise<boolean> => {
        expect(world.ran).to.deep.equal([]);
        asked.push(question);
        return true;
      };

      expect(await told(TRANSFER, { onApproval })).to.include('transfer ran');
      expect(world.ran).to.deep.equal([['transfer', { amount: 5 }]]);
      expect(asked).to.have.length(1);
      expect(asked[0]?.[0]).to.deep.include({ tool: 'transfer', arguments: { amount: 5 }, role: 'editor' });
      expect(asked[0]?.[1]).to.include({ agentName: 'support-bot', userId: 'u-1', sessionId: 's-1' });
      expect(await recorded()).to.deep.equal(['transfer: needs_approval']);
    });

    const refusals: [string, Given, string][] = [
      ['is refused', { onApproval: () => false }, 'which was refused'],
      ['has nobody to approve it', {}, 'no approver is configured'],
      [
        'is approved too late',
        { onApproval: () => new Promise(() => undefined), approvalTimeoutMs: 1 },
        'did not come in time',
      ],
    ];
    for (const [what, options, text] of refusals) {
      it(`does not run a call that ${what}, and tells the model so`, async () => {
        expect(await told(TRANSFER, options)).to.include(text);
        expect(world.ran).to.deep.equal([]);
        expect(await recorded()).to.deep.equal(['transfer: needs_approval']);
      });
    }

    it('decides each of several parallel calls separately', async () => {
      const ask = await bound({ onApproval: () => new Promise((resolve) => setImmediate(resolve, true)) });
      const texts = await ask([[TRANSFER, WRITE, SEARCH]], { caller: CALLER });

      expect(texts[0]).to.include('transfer ran');
      expect(texts[1]).to.include('write is denied');
      expect(texts[2]).to.include('search ran');
      expect(world.ran.map(([tool]) => tool)).to.have.members(['search', 'transfer']);
      expect(await recorded()).to.have.members(['transfer: needs_approval', 'write: deny', 'search: allow']);
    });

    it('keeps overlapping runs of different callers apart', async () => {
      const ask = await bound({
        onApproval: async (_, { userId }) => {
          if (userId === 'u-1') await ask([[SEARCH], [TRANSFER]], { caller: { userId: 'u-2' } });
          return true;
        },
      });
      await ask([[TRANSFER], [SEARCH]], { caller: CALLER });
      const events = await world.events();

      // Two posts may overtake each other in transit.
      expect(events.map(({ user_id, tool_name }) => [user_id, tool_name])).to.have.deep.members([
        ['u-1', 'transfer'],
        ['u-2', 'search'],
        ['u-2', 'transfer'],
        ['u-1', 'search'],
      ]);
    });

    it('refreshes the policy once a run, before the model is asked', async () => {
      const ask = await bound();
      const fetches: number[] = [];
      const onModel = () => void fetches.push(world.mock.seen(AGENT_ROUTE).length);
      await ask([[SEARCH], [SEARCH, SEARCH]], { caller: CALLER, onModel });
      await ask([[SEARCH]], { caller: CALLER, onModel });

      expect(fetches[0]).to.equal(2);
      expect(fetches.at(-1)).to.equal(3);
      expect(new Set(fetches)).to.deep.equal(new Set([2, 3]));
      expect(world.mock.seen(AGENT_ROUTE)).to.have.length(3);
    });

    it('keeps its policy during a run; a change takes effect on the next', async () => {
      const ask = await bound({
        onApproval: async () => {
          world.mock.on(AGENT_ROUTE, conditionally(world.v2));
          // This run overlaps the other, and fetches the new policy.
          await ask([[WRITE]], { caller: CALLER });
          return true;
        },
      });
      const current = await ask([[TRANSFER], [WRITE]], { caller: CALLER });

      expect(current[1]).to.include('write is denied');
      expect(world.ran.map(([tool]) => tool)).to.deep.equal(['write', 'transfer']);
      expect((await ask([[WRITE]], { caller: CALLER }))[0]).to.include('write ran');
    });

    it('continues with the current policy while the service is down', async () => {
      const ask = await bound();
      for (const route of [AGENT_ROUTE, DECISIONS]) world.mock.on(route, { fault: 'reset' });
      const texts = await ask([[SEARCH, WRITE]], { caller: CALLER });

      expect(texts[0]).to.include('search ran');
      expect(texts[1]).to.include('write is denied');
      expect(world.ran.map(([tool]) => tool)).to.deep.equal(['search']);
    });

    it('does not bind without a policy', async () => {
      world.mock.on(AGENT_ROUTE, { fault: 'reset' });

      expect(await bound().catch((error: unknown) => error)).to.have.property('code', 'unreachable');
    });

    it('calls no model and runs no tool under a broken policy', async () => {
      const localPolicy = await temporaryFile('policy.yaml', policyYaml({ allow: ['search'] }));
      const ask = await bound({ localPolicy });
      await writeFile(localPolicy, '');
      const onModel = (): never => expect.fail('the model was asked');
      const fault: unknown = await ask([[SEARCH]], { caller: CALLER, onModel }).catch(
        (error: unknown) => error,
      );

      expect(String(fault)).to.match(/policy/i);
      expect(fault).to.be.instanceOf(Error);
      expect(world.ran).to.deep.equal([]);
    });

    it('leaves the failure of a tool to the framework', async () => {
      const search = (): never => {
        throw new Error('the disk is full');
      };
      const ask = await bound({ tools: { ...world.agent.tools, search } });
      const texts = await ask([[SEARCH]], { caller: CALLER }).catch((error: unknown) => [String(error)]);

      // The OpenAI Agents SDK does not pass on the message.
      expect(texts[0]).to.match(/the disk is full|an error occurred/i);
      expect(await recorded()).to.deep.equal(['search: allow']);
    });

    if (!harness.isStreaming) return;
    it('does the same for a streamed run', async () => {
      const ask = await bound({ onApproval: () => true });
      const texts = await ask([[SEARCH, WRITE], [TRANSFER]], { caller: CALLER, isStreamed: true });

      expect(texts[0]).to.include('search ran');
      expect(texts[1]).to.include('write is denied');
      expect(texts[2]).to.include('transfer ran');
      expect(world.ran.map(([tool]) => tool)).to.deep.equal(['search', 'transfer']);
      expect(world.mock.seen(AGENT_ROUTE)).to.have.length(2);
      expect(await recorded()).to.have.length(3);
    });
  });
}
