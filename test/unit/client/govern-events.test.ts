import { expect } from 'chai';
import { PolicyDeniedError, shutdown, type Decision, type GovernOptions } from '../../../client/index.ts';
import { startAgentWorld, type Call } from '../../support/agent-world.ts';
import { DECISIONS } from '../../support/emission.ts';
import { policyYaml } from '../../support/platform.ts';
import { temporaryFile } from '../../support/temporary-file.ts';
import { forEachTest } from '../../support/for-each-test.ts';

describe('govern: a decision and its event agree: what was enforced is what was recorded', () => {
  const world = forEachTest(startAgentWorld);
  let { mock, ran, governed, events } = world;
  beforeEach(() => void ({ mock, ran, governed, events } = world));

  const cases: [string, Call, GovernOptions, string, boolean][] = [
    ['allow', ['search', { query: 'x' }], {}, 'allow', true],
    ['deny', ['write', { path: '/' }], {}, 'deny', false],
    ['approval given', ['transfer', { amount: 1 }], { onApproval: () => true }, 'needs_approval', true],
    ['approval refused', ['transfer', { amount: 1 }], { onApproval: () => false }, 'needs_approval', false],
    ['nobody to approve', ['transfer', { amount: 1 }], {}, 'needs_approval', false],
  ];
  for (const [name, call, options, outcome, runs] of cases) {
    it(name, async () => {
      const bound = await governed({ ...options, role: 'editor', userId: 'u-1', sessionId: 's-1' });
      const decision: Decision = bound.source.policy.decide({
        tool: call[0],
        role: 'editor',
        arguments: call[1] as Record<string, unknown>,
      });
      const [result] = await bound.run([call]);
      const [{ event_id, occurred_at, error_type, ...event } = {}, ...more] = await events();
      const error = (result as { error?: { event_id: string; error_type: string } }).error;

      expect(more).to.deep.equal([]);
      expect(event).to.deep.equal({
        ...decision,
        agent_name: 'support-bot',
        tool_name: call[0],
        role: 'editor',
        arguments: call[1],
        user_id: 'u-1',
        session_id: 's-1',
      });
      expect(event.outcome).to.equal(outcome);
      expect(ran).to.have.length(runs ? 1 : 0);
      expect(occurred_at).to.match(/Z$/);
      if (error) expect([error.event_id, error.error_type]).to.deep.equal([event_id, error_type]);
    });
  }

  it('audit down: the agent does not notice', async () => {
    mock.on(DECISIONS, { fault: 'reset' });
    const outcomes = await (
      await governed()
    ).run([
      ['search', {}],
      ['write', {}],
    ]);

    expect(outcomes[0]).to.deep.equal({ value: 'search ran' });
    expect((outcomes[1] as { error: unknown }).error).to.be.instanceOf(PolicyDeniedError);
  });

  it('audit saturated: every call is still decided', async () => {
    mock.on(DECISIONS, { fault: 'hang' });
    const bound = await governed();
    await bound.run(Array.from({ length: 40 }, (): Call => ['search', {}]));

    expect(ran).to.have.length(40);
    expect(bound.gate.stats()).to.deep.equal({ sent: 0, failed: 0, dropped: 8, in_flight: 32 });
    await shutdown({ timeoutMs: 1 });
  });

  it('with a local policy and a key outside local mode, audit is emitted', async () => {
    const localPolicy = await temporaryFile('policy.yaml', policyYaml({ allow: ['search'] }));
    await (await governed({ localPolicy })).run([['search', {}]]);

    expect((await events()).map(({ outcome }) => outcome)).to.deep.equal(['allow']);
  });

  it('the caller of a run overrides the one given to govern', async () => {
    const bound = await governed({ role: 'editor', userId: 'u-1', sessionId: 's-1' });
    await bound.run([['search', {}]], { role: 'admin', sessionId: undefined });

    expect((await events())[0]).to.include({ role: 'admin', user_id: 'u-1', session_id: 's-1' });
  });
});
