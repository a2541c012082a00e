import { expect } from 'chai';
import { policyYaml } from '../../support/platform.ts';
import { AGENT_ROUTE, startPolicyWorld } from '../../support/policy-world.ts';
import { temporaryFile } from '../../support/temporary-file.ts';
import { forEachTest } from '../../support/for-each-test.ts';

const POLICY = policyYaml({ allow: ['search'] });

describe('resolve', () => {
  const world = forEachTest(startPolicyWorld);
  let { mock, signer, key, logger, resolve, faultOf } = world;
  beforeEach(() => void ({ mock, signer, key, logger, resolve, faultOf } = world));

  describe('precedence', () => {
    it('1. a local policy overrides all others: the platform is not contacted', async () => {
      const file = await temporaryFile('policy.yaml', POLICY);
      const source = await resolve({ key }, { GATE_LOCAL_POLICY: file, GATE_KEY: key });

      expect(source.origin).to.equal('local');
      expect(source.policy.decide({ tool: 'search' }).outcome).to.equal('allow');
      expect(source.etag).to.equal(null);
      expect(source.agentVersionId).to.equal(null);
      expect(mock.requests).to.deep.equal([]);
    });

    it('2. otherwise the key: the argument, then GATE_KEY', async () => {
      const other = await signer.bearerKey('p-2');
      await resolve({ key }, { GATE_KEY: other });
      await resolve({}, { GATE_KEY: key });

      expect(mock.seen(AGENT_ROUTE).map(({ headers }) => headers.authorization)).to.deep.equal([
        `Bearer ${key}`,
        `Bearer ${key}`,
      ]);
    });

    it('3. otherwise an error: nothing is allowed by default', async () => {
      expect(await faultOf({})).to.deep.equal({ code: 'policy_missing', status: undefined });
    });

    it('GATE_API_KEY is for audit and does not replace GATE_KEY', async () => {
      expect((await faultOf({}, { GATE_API_KEY: key })).code).to.equal('policy_missing');
    });

    it('in local mode the platform is never contacted: the file, else the built-in policy, else an error', async () => {
      const file = await temporaryFile('policy.yaml', POLICY);
      const local = { GATE_LOCAL_MODE: '1', GATE_KEY: key };

      expect((await resolve({ policy: POLICY }, { ...local, GATE_LOCAL_POLICY: file })).origin).to.equal(
        'local',
      );
      expect((await resolve({ policy: POLICY }, local)).origin).to.equal('built-in');
      expect((await faultOf({}, local)).code).to.equal('policy_missing');
      expect(mock.requests).to.deep.equal([]);
    });
  });

  describe('tools named in the agent but absent from the policy', () => {
    it('are denied, and a warning lists them, for every origin', async () => {
      const toolNames = ['search', 'launch', 'explode'];
      const localPolicy = await temporaryFile('policy.yaml', POLICY);
      const sources = [
        await resolve({ toolNames, key }),
        await resolve({ toolNames, localPolicy }),
        await resolve({ toolNames, policy: POLICY }),
      ];

      expect(sources.map(({ origin }) => origin)).to.deep.equal(['bundle', 'local', 'built-in']);
      expect(logger.at('warn')).to.deep.equal(
        sources.map(() => 'Tools absent from the policy are denied: launch, explode'),
      );
      for (const { policy } of sources) {
        expect(policy.decide({ tool: 'launch' }).violations).to.deep.equal(['unknown_tool']);
      }
    });

    it('no warning if there are none', async () => {
      await resolve({ toolNames: ['search', 'write'], key });

      expect(logger.lines).to.deep.equal([]);
    });
  });
});
