import { expect } from 'chai';
import { configure, govern, resolvePolicy, shutdown, ValueError } from '../../../client/index.ts';
import { startAgentWorld } from '../../support/agent-world.ts';
import { bodiesOf, DECISIONS, decision } from '../../support/emission.ts';
import { withEnvironment } from '../../support/environment.ts';
import { forEachTest } from '../../support/for-each-test.ts';
import { AGENT_ROUTE } from '../../support/policy-world.ts';

describe('govern: the gate', () => {
  const world = forEachTest(startAgentWorld);
  const configured = (apiKey = world.key) =>
    configure({ apiKey, baseUrl: world.mock.url, logger: world.logger });
  const sent = () => bodiesOf(world.mock, DECISIONS).map(({ tool_name }) => tool_name);

  it('of a bound agent continues when configure is called again after shutdown, even during a run', async () => {
    const bound = await world.governed({
      onApproval: async () => {
        await shutdown();
        configured('k');
        return true;
      },
    });
    const first = bound.gate;
    await bound.run([
      ['transfer', {}],
      ['search', {}],
    ]);
    await shutdown();

    expect(sent()).to.deep.equal(['transfer', 'search']);
    expect([first.enabled, bound.gate.enabled]).to.deep.equal([false, false]);
    expect(configured('k')).to.equal(bound.gate);
    expect(bound.gate.enabled).to.equal(true);
  });

  it('stays closed after shutdown until then, and for another key, and warns once', async () => {
    const bound = await world.governed();
    await shutdown();
    configured('other');
    expect(world.logger.at('warn')).to.deep.equal([]);
    await bound.run([['search', {}], ['search', {}]]); // prettier-ignore
    await shutdown();

    expect(sent()).to.deep.equal([]);
    expect(world.logger.at('warn')).to.deep.equal([
      'Audit events after shutdown() are not sent. Call it once, when the program ends, or call configure() again',
    ]);
  });

  it('notices local mode, and its end', async () => {
    const bound = await world.governed({ policy: 'version: 1\ntools: []\nroles: {}\nrules: []\n' });
    const { gate } = bound;
    await withEnvironment({ GATE_LOCAL_MODE: 'on' }, async () => {
      expect(gate.enabled).to.equal(false);
      gate.emit(decision());
      await bound.run([['search', {}]]);
    });
    expect(gate.enabled).to.equal(true);
    gate.emit(decision({ tool_name: 'after' }));
    await shutdown();

    expect(sent()).to.deep.equal(['after']);
    expect(gate.stats()).to.deep.equal({ sent: 1, failed: 0, dropped: 0, in_flight: 0 });
  });

  it('of an agent that is bound in local mode opens when configure does', async () => {
    const policy = 'version: 1\ntools: [search]\nroles: {"*": {allow: [search]}}\nrules: []\n';
    const bound = await withEnvironment({ GATE_LOCAL_MODE: '1' }, () => world.governed({ policy }));
    await bound.run([['search', {}]]);
    configured('k');
    await bound.run([['search', {}]]);
    await shutdown();

    expect(sent()).to.deep.equal(['search']);
  });

  describe('given as client', () => {
    const elsewhere = { GATE_BASE_URL: 'http://127.0.0.1:1', GATE_KEY: 'not-used' };

    it('supplies key and base URL for the policy, before the environment', async () => {
      const client = configured();
      const source = await withEnvironment(elsewhere, () =>
        resolvePolicy({ agentName: 'support-bot', client }),
      );

      expect(source.origin).to.equal('bundle');
      expect(world.mock.seen(AGENT_ROUTE)[0]?.headers.authorization).to.equal(`Bearer ${world.key}`);
      await shutdown();
      await source.refresh();
      expect(world.mock.seen(AGENT_ROUTE)).to.have.length(2);
    });

    it('key and baseUrl win over it', async () => {
      const client = configure({ apiKey: 'audit', baseUrl: 'http://127.0.0.1:1', logger: world.logger });
      const { key, mock } = world;

      expect(
        (await resolvePolicy({ agentName: 'support-bot', client, key, baseUrl: mock.url })).origin,
      ).to.equal('bundle');
    });

    it('is the gate of the agent, unless apiKey names another', async () => {
      const client = configured();
      const { agent, mock, logger } = world;
      const bound = await govern(agent, { client, logger, bindPolicy: true });
      const other = await govern(agent, { client, apiKey: 'k', baseUrl: mock.url, logger, bindPolicy: true });
      await bound.run([['search', {}]]);
      await shutdown();

      expect(bound.gate).to.equal(client);
      expect(other.gate).to.not.equal(client);
      expect(mock.seen(DECISIONS).map(({ headers }) => headers.authorization)).to.deep.equal([
        `Bearer ${world.key}`,
      ]);
    });

    it('must come from configure; without a key it supplies none', async () => {
      const forged = { ...configured() };
      const faultOf = (client: typeof forged): Promise<unknown> =>
        resolvePolicy({ agentName: 'support-bot', client }).catch((error: unknown) => error);

      expect(await faultOf(forged)).to.be.instanceOf(ValueError);
      expect(await withEnvironment({}, () => faultOf(configure()))).to.have.property(
        'code',
        'policy_missing',
      );
    });
  });
});
