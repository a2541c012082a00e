import { getEventListeners } from 'node:events';
import { expect } from 'chai';
import {
  ApprovalRequiredError,
  bindPolicy,
  govern,
  PolicyDeniedError,
  ValueError,
  type ApprovalContext,
  type ApprovalRequest,
  type PolicyBinding,
  type RunOptions,
} from '../../../client/index.ts';
import { startAgentWorld } from '../../support/agent-world.ts';
import { conditionally, policyYaml } from '../../support/platform.ts';
import { AGENT_ROUTE } from '../../support/policy-world.ts';
import { ofAnotherRealm } from '../../support/another-realm.ts';
import { forEachTest } from '../../support/for-each-test.ts';

describe('bindPolicy', () => {
  const world = forEachTest(startAgentWorld);
  const bound = (more: object = {}): Promise<PolicyBinding> => bindPolicy({ ...world.options, ...more });
  const failureOf = async (options: RunOptions, more: object = {}): Promise<ApprovalRequiredError> => {
    const run = await (await bound(more)).startRun(options);
    const fault: unknown = await run
      .call('transfer', { amount: 1 }, () => expect.fail('the tool ran'))
      .catch((error: unknown) => error);
    expect(fault).to.be.instanceOf(ApprovalRequiredError);
    return fault as ApprovalRequiredError;
  };

  it('decides on a copy and records once, whatever the outcome', async () => {
    const run = await (await bound()).startRun({ role: 'editor', userId: 'u', sessionId: 's' });
    const args = { query: 'cats' };
    const allowed = run.decide('search', args);
    args.query = 'dogs';
    const denied = run.decide('write', { path: '/' });
    const pending = run.decide('transfer', { amount: 1 });

    expect(allowed).to.deep.include({ tool: 'search', outcome: 'allow', arguments: { query: 'cats' } });
    expect(denied).to.deep.include({ outcome: 'deny', violations: ['role_not_allowed'] });
    expect(pending).to.include({ outcome: 'needs_approval' });
    const events = await world.events();
    expect(events.map(({ event_id }) => event_id)).to.have.members(
      [allowed, denied, pending].map(({ event_id }) => event_id),
    );
    for (const event of events) expect(event).to.include({ role: 'editor', user_id: 'u', session_id: 's' });
  });

  it('decides and records where a test replaces crypto', async () => {
    const binding = await bound();
    const run = await binding.startRun();
    const { crypto } = globalThis;
    const replaceCrypto = (value: object): void =>
      void Object.defineProperty(globalThis, 'crypto', { value, configurable: true });
    replaceCrypto({});
    try {
      expect(run.decide('search', {}).outcome).to.equal('allow');
      binding.gate.emit({ agent_name: 'support-bot', tool_name: 'search', outcome: 'allow' });
    } finally {
      replaceCrypto(crypto);
    }

    expect(await world.events()).to.have.length(2);
  });

  it('executes what is allowed on the decided arguments, and nothing that is denied', async () => {
    const run = await (await bound()).startRun();
    const found: { query: unknown } = await run.call('search', { query: 'cats' }, (args) => ({
      query: (args as { query: unknown }).query,
    }));
    const fault: unknown = await run
      .call('write', {}, () => expect.fail('the tool ran'))
      .catch((error: unknown) => error);

    expect(found).to.deep.equal({ query: 'cats' });
    expect(fault).to.be.instanceOf(PolicyDeniedError);
    expect(await world.events()).to.have.length(2);
  });

  it('a run keeps its policy; the next refreshes it', async () => {
    const binding = await bound();
    const first = await binding.startRun();
    world.mock.on(AGENT_ROUTE, conditionally(world.v2));
    const second = await binding.startRun();

    expect(first.decide('write', {}).outcome).to.equal('deny');
    expect(second.decide('write', {}).outcome).to.equal('allow');
  });

  it('lists the tools that a role may use, and records nothing', async () => {
    const policy = [
      'version: 1',
      'tools: [search, write, transfer]',
      'roles: { editor: { allow: [search], approve: [transfer] }, admin: { allow: ["*"] } }',
      'rules: [{ id: r, tools: [search], when: { arg: query, exists: false }, effect: deny, reason: No. }]',
      '',
    ].join('\n');
    const binding = await bound({ policy, toolNames: ['search', 'write', 'transfer'] });
    const editor = await binding.startRun({ role: 'editor' });
    const admin = await binding.startRun({ role: 'admin' });

    expect(editor.tools()).to.deep.equal(['search', 'transfer']);
    expect(admin.tools(['write', 'launch'])).to.deep.equal(['write']);
    expect((await binding.startRun()).tools()).to.deep.equal([]);
    expect(await world.events()).to.deep.equal([]);
  });

  describe('an approver', () => {
    it('gets the caller, the agent, the id of the call and the signal of the run', async () => {
      const { signal } = new AbortController();
      let context: ApprovalContext | undefined;
      const onApproval = (_: unknown, given: ApprovalContext): boolean => ((context = given), true);
      const binding = await bound({ sessionId: 's' });
      const run = await binding.startRun({ userId: 'u', signal, onApproval });
      const admitted = await run.admit('transfer', { amount: 1 }, { callId: 'call_1' });

      expect(admitted()).to.deep.equal({ amount: 1 });
      expect(context).to.deep.equal({
        agentName: 'support-bot',
        userId: 'u',
        sessionId: 's',
        callId: 'call_1',
        signal,
      });
    });

    it('may answer later', async () => {
      let answer: ((isApproved: boolean) => void) | undefined;
      const run = await (
        await bound()
      ).startRun({ onApproval: () => new Promise((resolve) => (answer = resolve)) });
      const called = run.call('transfer', { amount: 1 }, () => 'sent');
      await new Promise((resolve) => setImmediate(resolve));
      answer?.(true);

      expect(await called).to.equal('sent');
    });

    it('that is missing, refuses, fails, is late or is cancelled causes a distinct error', async () => {
      const cancelled = new AbortController();
      const failures = [
        await failureOf({}),
        await failureOf({ onApproval: () => false }),
        await failureOf({ onApproval: () => Promise.reject(new Error('nobody is there')) }),
        await failureOf({ onApproval: () => new Promise(() => undefined), approvalTimeoutMs: 1 }),
        await failureOf({
          signal: cancelled.signal,
          onApproval: () => {
            cancelled.abort('the user left');
            return new Promise(() => undefined);
          },
        }),
        await failureOf({
          onApproval: ({ arguments: args }) => Boolean(Object.assign(args as object, { amount: 2 })),
        }),
        await failureOf({ signal: AbortSignal.abort(ofAnotherRealm({ name: 'TimeoutError' })) }),
      ];

      expect(failures.map(({ approval }) => approval)).to.deep.equal([
        'no_approver', 'refused', 'failed', 'timed_out', 'cancelled', 'arguments_changed',
        'timed_out',
      ]); // prettier-ignore
      expect(new Set(failures.map(({ message }) => message)).size).to.equal(failures.length - 1);
      expect(failures[2]?.cause).to.have.property('message', 'nobody is there');
      expect(failures[4]?.cause).to.equal('the user left');
    });

    it('cannot give the tool arguments other than those in its request', async () => {
      const onApproval = ({ arguments: shown }: ApprovalRequest): boolean => {
        let reads = 0;
        Object.defineProperty(shown, 'amount', {
          enumerable: true,
          get: () => ((reads += 1) > 1 ? 1_000_000 : 1),
        });
        return true;
      };
      const run = await (await bound()).startRun({ onApproval });

      expect(await run.call('transfer', { amount: 1 }, (args) => ({ ...(args as object) }))).to.deep.equal({
        amount: 1,
      });
    });

    it('learns from its signal that its answer would be late', async () => {
      let signal: AbortSignal | undefined;
      const onApproval = (_: unknown, context: ApprovalContext): Promise<boolean> => {
        ({ signal } = context);
        return new Promise(() => undefined);
      };
      await failureOf({ approvalTimeoutMs: 1, onApproval, signal: new AbortController().signal });

      expect(signal?.aborted).to.equal(true);
    });

    it('is not asked in a run that is cancelled already', async () => {
      const failure = await failureOf({
        signal: AbortSignal.abort(),
        onApproval: () => expect.fail('it was asked'),
      });

      expect(failure.approval).to.equal('cancelled');
    });

    it('is ignored once the run or the call is cancelled', async () => {
      for (const cancelled of ['run', 'call'] as const) {
        const signals = { run: new AbortController(), call: new AbortController() };
        const onApproval = (): Promise<boolean> => {
          signals[cancelled].abort();
          return Promise.resolve(true);
        };
        const run = await (await bound()).startRun({ signal: signals.run.signal, onApproval });
        const admitted = run.admit('transfer', { amount: 1 }, { signal: signals.call.signal });

        expect(await Promise.resolve(admitted).catch((error: unknown) => error)).to.include({
          approval: 'cancelled',
        });
      }
    });

    it('that is missing leaves no listener on the signal of the run', async () => {
      const { signal } = new AbortController();
      const run = await (await bound()).startRun({ signal });
      await run.call('transfer', { amount: 1 }, () => expect.fail('the tool ran')).catch(() => undefined);

      expect(getEventListeners(signal, 'abort')).to.deep.equal([]);
    });

    it('may throw an error of its framework, which reaches the framework unchanged', async () => {
      const interrupt = ofAnotherRealm({ is_bubble_up: true });
      const pause = new RangeError('pause');
      const faultOf = async (error: Error, more: RunOptions = {}): Promise<unknown> => {
        const onApproval = (): boolean => {
          throw error;
        };
        const run = await (await bound()).startRun({ onApproval, ...more });
        return run
          .call('transfer', { amount: 1 }, () => expect.fail('the tool ran'))
          .catch((fault: unknown) => fault);
      };

      expect(await faultOf(interrupt)).to.equal(interrupt);
      expect(await faultOf(pause, { passThrough: (error) => error instanceof RangeError })).to.equal(pause);
      expect(await faultOf(pause)).to.be.instanceOf(ApprovalRequiredError);
    });
  });

  it('records nothing in a synchronous run', async () => {
    const run = (await bound({ policy: policyYaml({ allow: ['search'] }) })).startRunSync();

    expect(run.callSync('search', { query: 'cats' }, () => 'found')).to.equal('found');
    expect(run.decide('write', {}).outcome).to.equal('deny');
    expect(await world.events()).to.deep.equal([]);
  });

  it('needs the name of the agent', async () => {
    expect(await bound({ agentName: '' }).catch((error: unknown) => error)).to.be.instanceOf(ValueError);
  });

  it('govern passes what follows the arguments to the tool untouched', async () => {
    const context = { signal: new AbortController().signal };
    const seen: unknown[] = [];
    const tools = { search: (args: { query: string }, more: typeof context) => void seen.push(args, more) };
    const governed = await govern(
      { name: 'support-bot', tools, run: ({ tools: { search } }) => search({ query: 'cats' }, context) },
      { policy: policyYaml({ allow: ['search'] }), bindPolicy: true, logger: world.logger },
    );
    await governed.run('');

    expect(seen[0]).to.deep.equal({ query: 'cats' });
    expect(seen[1]).to.equal(context);
  });
});
