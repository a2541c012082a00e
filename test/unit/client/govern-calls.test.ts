import { expect } from 'chai';
import { ApprovalRequiredError, PolicyDeniedError, govern } from '../../../client/index.ts';
import { startAgentWorld } from '../../support/agent-world.ts';
import { policyYaml } from '../../support/platform.ts';
import { forEachTest } from '../../support/for-each-test.ts';

describe('govern: a tool called through ctx.tools is decided first', () => {
  const world = forEachTest(startAgentWorld);
  let { logger, ran, governed, agent } = world;
  beforeEach(() => void ({ logger, ran, governed, agent } = world));

  it('allow: the tool runs on its arguments, and the call returns a promise of its result', async () => {
    const args = { query: 'cats' };
    const outcomes = await (await governed()).run([['search', args]]);

    expect(outcomes).to.deep.equal([{ value: 'search ran' }]);
    expect(ran).to.deep.equal([['search', args]]);
  });

  it('deny: throws PolicyDeniedError with error_type, reason, violations and hint; the tool does not run', async () => {
    const [outcome] = await (await governed()).run([['write', { path: '/' }]]);
    const { error } = outcome as { error: PolicyDeniedError };

    expect(error).to.be.instanceOf(PolicyDeniedError);
    expect(error).to.deep.include({
      name: 'PolicyDeniedError',
      error_type: 'policy_denied',
      tool: 'write',
      reason: 'Role may not use this tool.',
      violations: ['role_not_allowed'],
      hint: { code: 'role_not_allowed', allowed_roles: [] },
    });
    expect(ran).to.deep.equal([]);
  });

  it('needs_approval: throws ApprovalRequiredError without onApproval; the tool does not run', async () => {
    const [outcome] = await (await governed()).run([['transfer', { amount: 1 }]]);
    const { error } = outcome as { error: ApprovalRequiredError };

    expect(error).to.be.instanceOf(ApprovalRequiredError);
    expect(error).to.deep.include({
      name: 'ApprovalRequiredError',
      error_type: 'approval_required',
      tool: 'transfer',
      violations: ['approval_by_role'],
    });
    expect(ran).to.deep.equal([]);
  });

  it('denies arguments that are not an object', async () => {
    const outcomes = await (
      await governed()
    ).run([
      ['search', 'cats'],
      ['search', [1]],
      ['search', { n: NaN }],
    ]);

    for (const outcome of outcomes) {
      expect((outcome as { error: PolicyDeniedError }).error.violations).to.deep.equal(['bad_call']);
    }
    expect(ran).to.deep.equal([]);
  });

  it('calls a tool with its own this, and passes its failure on', async () => {
    const tools = {
      count: 41,
      search() {
        return (this as { count: number }).count + 1;
      },
      transfer: () => {
        throw new RangeError('broke');
      },
    };
    const own = { ...agent, tools: tools as unknown as typeof agent.tools };
    const options = { policy: policyYaml({ allow: ['search', 'transfer'] }), logger };
    const bound = await govern(own, { ...options, bindPolicy: true, onApproval: () => true });
    const outcomes = await bound.run([['search'], ['transfer']]);

    expect(outcomes[0]).to.deep.equal({ value: 42 });
    expect((outcomes[1] as { error: unknown }).error).to.be.instanceOf(RangeError);
  });

  it('governs the tools that an instance of a class inherits', async () => {
    class Base {
      readonly #store = 'found';
      search({ query }: { query: string }) {
        return `${this.#store} ${query}`;
      }
    }
    class Store extends Base {
      readonly name = 'no tool';
      readonly extra = () => expect.fail('it was not denied');
      get transfer() {
        return ({ amount }: { amount: number }) => amount;
      }
    }
    const bound = await govern(
      { ...agent, tools: new Store() as unknown as typeof agent.tools },
      { policy: policyYaml({ allow: ['search'] }), logger, bindPolicy: true, onApproval: () => true },
    );
    const outcomes = await bound.run([['search', { query: 'cats' }], ['transfer', { amount: 5 }], ['extra']]);

    expect(outcomes.slice(0, 2)).to.deep.equal([{ value: 'found cats' }, { value: 5 }]);
    expect(outcomes[2]).to.have.property('error').that.is.instanceOf(PolicyDeniedError);
    expect(logger.at('warn')).to.deep.equal(['Tools absent from the policy are denied: extra']);
  });
});
