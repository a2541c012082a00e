import { expect } from 'chai';
import { govern, shutdown, type GovernOptions } from '../../../client/index.ts';
import { bodiesOf, DECISIONS, decision, startAuditServer } from '../../support/emission.ts';
import { withEnvironment } from '../../support/environment.ts';
import { forEachTest } from '../../support/for-each-test.ts';
import { policyYaml } from '../../support/platform.ts';

const POLICY = policyYaml({ allow: ['search'] });

describe('govern: an agent that is not bound', () => {
  const mock = forEachTest(startAuditServer);
  afterEach(() => shutdown());

  const agent = {
    name: 'support-bot',
    model: 'm-1',
    tools: { search: (query: unknown) => `found ${String(query)}` },
    run({ tools }: { tools: Record<string, (args?: unknown) => unknown> }, input: string): unknown {
      return this.tools === agent.tools && tools['search']?.(input);
    },
  };
  const governed = (options: GovernOptions = {}, variables: Record<string, string> = {}) =>
    withEnvironment(variables, () => govern(agent, options));

  it('has the agent’s own properties and the shape of a bound one', async () => {
    const bound = await governed({ policy: POLICY });
    const bare = await governed({ policy: POLICY, bindPolicy: false });

    expect(bare).to.include({ name: 'support-bot', model: 'm-1', source: null, isGoverned: false });
    expect(bare).to.have.property('tools', agent.tools);
    expect(bound).to.include({ name: 'support-bot', model: 'm-1', isGoverned: true });
    expect(bound).to.not.have.property('tools');
    const shape = (of: object): string[] => Object.keys(of).filter((key) => key !== 'tools');
    expect(shape(bare)).to.have.members(shape(bound));
    expect(await governed({ bindPolicy: false, agentName: 'other' })).to.have.property('name', 'other');
  });

  it('runs with its own tools, with and without a caller', async () => {
    const bare = await governed();

    expect(await bare.run('cats', { role: 'editor' })).to.equal('found cats');
    expect(bare.runSync('dogs')).to.equal('found dogs');
    expect(bare.run('cats')).to.be.instanceOf(Promise);
  });

  it('rejects in run with what the agent throws', async () => {
    const failing = { ...agent, run: (): never => expect.fail('no') };
    const bare = await govern(failing, { bindPolicy: false });

    expect(await bare.run(undefined).catch((error: Error) => error.message)).to.equal('no');
  });

  it('has the gate of the API key', async () => {
    const variables = { GATE_API_KEY: 'k', GATE_BASE_URL: mock.url };
    const bare = await governed({}, variables);
    bare.gate.emit(decision());
    await shutdown();

    expect((await governed()).gate.enabled).to.equal(false);
    expect(bodiesOf(mock, DECISIONS)).to.have.length(1);
  });
});
