import { expect } from 'chai';
import { ApprovalRequiredError, type ApprovalRequest } from '../../../client/index.ts';
import { startAgentWorld } from '../../support/agent-world.ts';
import { forEachTest } from '../../support/for-each-test.ts';

describe('govern: onApproval', () => {
  const world = forEachTest(startAgentWorld);
  let { ran, governed, events } = world;
  beforeEach(() => void ({ ran, governed, events } = world));

  it('gets the call and the reason, and true lets the tool run', async () => {
    const asked: ApprovalRequest[] = [];
    const bound = await governed({ onApproval: (request) => (asked.push(request), true), role: 'editor' });
    const outcomes = await bound.run([['transfer', { amount: 5, token: 'raw' }]]);
    const [event] = await events();

    expect(outcomes).to.deep.equal([{ value: 'transfer ran' }]);
    expect(asked).to.deep.equal([
      {
        tool: 'transfer',
        arguments: { amount: 5, token: 'raw' },
        role: 'editor',
        reason: 'This tool needs approval for this role.',
        violations: ['approval_by_role'],
        hint: { code: 'approval_by_role' },
        event_id: event?.event_id,
      },
    ]);
  });

  for (const [name, onApproval] of [
    ['no', () => false],
    ['no, later', () => Promise.resolve(false)],
    ['something that is not true', () => 'yes' as unknown as boolean],
    ['an error', () => Promise.reject(new Error('nobody is there'))],
    [
      'an error at once',
      () => {
        throw new Error('nobody is there');
      },
    ],
  ] as [string, () => boolean | Promise<boolean>][]) {
    it(`answers with ${name}: ApprovalRequiredError, and the tool does not run`, async () => {
      const [outcome] = await (await governed({ onApproval })).run([['transfer', { amount: 5 }]]);

      expect((outcome as { error: unknown }).error).to.be.instanceOf(ApprovalRequiredError);
      expect(ran).to.deep.equal([]);
    });
  }

  it('is not asked about what is allowed or denied', async () => {
    const bound = await governed({ onApproval: () => expect.fail('it was asked') });
    await bound.run([
      ['search', {}],
      ['write', {}],
    ]);

    expect(ran).to.have.length(1);
  });

  it('runs the tool on the approved arguments, whatever the caller changes meanwhile', async () => {
    const args = { amount: 5 };
    const bound = await governed({
      onApproval: async () => {
        args.amount = 5_000;
        return true;
      },
    });
    await bound.run([['transfer', args]]);

    expect(ran).to.deep.equal([['transfer', { amount: 5 }]]);
  });

  it('refuses arguments that change between the approval and the call, at any turn of the loop', async () => {
    for (let turns = 0; turns < 20; turns += 1) {
      const changeLater = async (given: unknown): Promise<void> => {
        for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
        if (ran.length === 0) (given as { amount: number }).amount = 5_000;
      };
      const bound = await governed({
        onApproval: ({ arguments: given }) => (void changeLater(given), true),
      });
      await bound.run([['transfer', { amount: 5 }]]);

      expect(
        ran.splice(0).map(([, given]) => given),
        `after ${turns}`,
      ).to.not.deep.include({ amount: 5_000 });
    }
  });
});
