import { expect } from 'chai';
import {
  configure,
  govern,
  PolicyError,
  shutdown,
  ValueError,
  type GovernOptions,
} from '../../../client/index.ts';
import { captureLogger } from '../../support/capture-logger.ts';
import { withEnvironment } from '../../support/environment.ts';
import { forEachTest } from '../../support/for-each-test.ts';
import { conditionally, policyYaml, publishedAgent, yamlRecord } from '../../support/platform.ts';
import { AGENT_ROUTE, startPolicyWorld } from '../../support/policy-world.ts';
import { temporaryFile } from '../../support/temporary-file.ts';

const POLICY = policyYaml({ allow: ['search'] });

const agentNamed = (name?: string) => ({
  ...(name !== undefined && { name }),
  tools: { search: () => 'found' },
  run: () => 'ran',
});

describe('bind_policy', () => {
  afterEach(() => shutdown());
  const world = forEachTest(startPolicyWorld);
  let { mock, key } = world;
  let file: string;
  before(async () => void (file = await temporaryFile('policy.yaml', POLICY)));
  beforeEach(() => {
    ({ mock, key } = world);
    mock.on(AGENT_ROUTE, conditionally(yamlRecord(publishedAgent())));
  });

  /** The result: the origin it is bound to, the bare agent, or the error. */
  async function bound(
    name: string | undefined,
    options: GovernOptions,
    variables: Record<string, string> = {},
  ): Promise<unknown> {
    return withEnvironment({ GATE_BASE_URL: mock.url, ...variables }, async () => {
      const agent = agentNamed(name);
      try {
        const result = await govern(agent, { logger: captureLogger(), ...options });
        return result.isGoverned ? result.source.origin : 'bare';
      } catch (error) {
        return error instanceof PolicyError ? error.code : (error as Error).name;
      }
    });
  }

  describe('unset (auto)', () => {
    it('binds when a name is given and GATE_KEY is set', async () => {
      expect(await bound('support-bot', {}, { GATE_KEY: key })).to.equal('yaml');
    });

    it('binds when a name is given and GATE_LOCAL_POLICY is set', async () => {
      expect(await bound('support-bot', {}, { GATE_LOCAL_POLICY: file })).to.equal('local');
      expect(mock.requests).to.deep.equal([]);
    });

    it('counts options as set', async () => {
      expect(await bound('support-bot', { key })).to.equal('yaml');
      expect(await bound('support-bot', { localPolicy: file })).to.equal('local');
      expect(await bound('support-bot', { policy: POLICY })).to.equal('built-in');
      expect(await bound(undefined, { agentName: 'support-bot', key })).to.equal('yaml');
    });

    it('returns the bare agent with a name but nothing to bind to', async () => {
      expect(await bound('support-bot', {})).to.equal('bare');
      expect(await bound('support-bot', {}, { GATE_API_KEY: 'for audit only' })).to.equal('bare');
    });

    it('returns the bare agent with a key but no name', async () => {
      expect(await bound(undefined, {}, { GATE_KEY: key })).to.equal('bare');
      expect(await bound('', {}, { GATE_LOCAL_POLICY: file })).to.equal('bare');
      expect(mock.requests).to.deep.equal([]);
    });

    it('binds in local mode, too: a key without a local policy then throws', async () => {
      const local = { GATE_LOCAL_MODE: '1' };

      expect(await bound('support-bot', {}, { ...local, GATE_KEY: key })).to.equal('policy_missing');
      expect(await bound('support-bot', { key }, local)).to.equal('policy_missing');
      expect(await bound('support-bot', {}, { ...local, GATE_LOCAL_POLICY: file })).to.equal('local');
      expect(await bound('support-bot', { key, policy: POLICY }, local)).to.equal('built-in');
      expect(await bound('support-bot', {}, local)).to.equal('bare');
      expect(mock.requests).to.deep.equal([]);
    });

    it('counts the key of a client as set', async () => {
      const client = configure({ apiKey: key, baseUrl: mock.url, logger: captureLogger() });

      expect(await bound('support-bot', { client }, { GATE_BASE_URL: 'http://127.0.0.1:1' })).to.equal(
        'yaml',
      );
      expect(await bound('support-bot', { client: configure() })).to.equal('bare');
    });

    it('throws when the policy it binds to is invalid', async () => {
      expect(await bound('another-bot', {}, { GATE_KEY: key })).to.equal('agent_unknown');
      expect(await bound('support-bot', {}, { GATE_LOCAL_POLICY: '/nowhere' })).to.equal(
        'local_policy_unreadable',
      );
    });
  });

  describe('true', () => {
    it('binds', async () => {
      expect(await bound('support-bot', { bindPolicy: true }, { GATE_KEY: key })).to.equal('yaml');
      expect(await bound('support-bot', { bindPolicy: true, policy: POLICY })).to.equal('built-in');
    });

    it('throws without a key and a local policy', async () => {
      expect(await bound('support-bot', { bindPolicy: true })).to.equal('policy_missing');
    });

    it('throws in local mode with only a key', async () => {
      const variables = { GATE_LOCAL_MODE: '1', GATE_KEY: key };
      expect(await bound('support-bot', { bindPolicy: true }, variables)).to.equal('policy_missing');
      expect(mock.requests).to.deep.equal([]);
    });

    it('throws a ValueError without a name', async () => {
      expect(await bound(undefined, { bindPolicy: true }, { GATE_KEY: key })).to.equal('ValueError');
      expect(await bound(undefined, { bindPolicy: true })).to.equal('ValueError');
      for (const name of [undefined, '', 42 as unknown as string]) {
        const governed = govern(agentNamed(name), { bindPolicy: true });
        const fault: unknown = await governed.catch((error: unknown) => error);
        expect(fault).to.be.instanceOf(ValueError);
        expect(String(fault)).to.contain('needs a name: set agent.name or agentName');
      }
    });
  });

  describe('false', () => {
    it('never binds', async () => {
      const variables = { GATE_KEY: key, GATE_LOCAL_POLICY: file };
      expect(await bound('support-bot', { bindPolicy: false }, variables)).to.equal('bare');
      expect(await bound('support-bot', { bindPolicy: false, key, policy: POLICY })).to.equal('bare');
      expect(mock.requests).to.deep.equal([]);
    });
  });
});
