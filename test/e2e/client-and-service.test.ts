import { expect } from 'chai';
import { govern, PolicyDeniedError, shutdown } from '../../client/index.ts';
import { fetchAgent, register, save } from '../support/agents.ts';
import { readDecisions } from '../support/audit.ts';
import { captureLogger } from '../support/capture-logger.ts';
import { startMockServer } from '../support/mock-server.ts';
import { policyYaml } from '../support/platform.ts';
import { useSharedService } from '../support/shared-service.ts';

const NAME = 'governed-bot';

describe('the client against the service', () => {
  const service = useSharedService();

  before(async () => {
    await register(service, { name: NAME, tools: ['search', 'write', 'transfer'] });
    await save(service, NAME, { policy_yaml: policyYaml({ allow: ['search'] }) });
  });

  after(() => shutdown());

  const tools = { search: () => 'found', write: () => 'written', transfer: () => 'sent' };

  /** Calls the tools it is given, one after the other; what is denied is told by its outcome. */
  const callAll = async (
    context: { tools: Record<string, (args?: unknown) => unknown> },
    names: string[],
  ) => {
    const results: unknown[] = [];
    for (const name of names) {
      const result = await Promise.resolve(context.tools[name]?.({ n: 1 })).catch((error: unknown) => error);
      results.push(result instanceof PolicyDeniedError ? 'denied' : result);
    }
    return results;
  };

  const bind = (run: typeof callAll = callAll, baseUrl = service.url, logger = captureLogger()) => {
    const { key } = service;
    return govern({ name: NAME, tools, run }, { key, apiKey: key, baseUrl, logger, bindPolicy: true });
  };

  it('stores decisions with the version that made them', async () => {
    const governed = await bind();

    expect(await governed.run(['search', 'write'], { userId: 'u-1' })).to.deep.equal(['found', 'denied']);
    await shutdown();
    expect(governed.gate.stats()).to.deep.equal({ sent: 2, failed: 0, dropped: 0, in_flight: 0 });
    const { items } = await readDecisions(service, { agent: NAME });
    expect(items.map(({ tool_name, outcome }) => [tool_name, outcome])).to.have.deep.members([
      ['search', 'allow'],
      ['write', 'deny'],
    ]);
    for (const { agent_version_id } of items)
      expect(agent_version_id).to.equal(governed.source.agentVersionId);
  });

  it('enforces a saved policy from the next run on', async () => {
    const governed = await bind(async (context, names) => {
      if (names.includes('save')) {
        await save(service, NAME, { policy_yaml: policyYaml({ allow: ['search', 'write'] }) });
      }
      return callAll(context, ['write']);
    });

    expect(await governed.run(['save'])).to.deep.equal(['denied']);
    expect(await governed.run([])).to.deep.equal(['written']);
    await shutdown();
  });

  it('keeps the policy object when a refresh is answered 304', async () => {
    const { source } = await bind();
    const { policy } = source;
    await source.refresh();

    expect(source.origin).to.equal('bundle');
    expect(source.policy).to.equal(policy);
  });

  it('keeps the old policy when the answer is tampered with', async () => {
    const between = await startMockServer();
    const logger = captureLogger();
    const record = (await (await fetchAgent(service, NAME)).json()) as Record<string, unknown>;
    const keys: unknown = await (await fetch(`${service.url}/v1/.well-known/keys`)).json();
    between.on('GET /v1/.well-known/keys', { json: keys });
    between.on(`GET /v1/agents/${NAME}`, { json: record });
    const governed = await bind(callAll, between.url, logger);
    between.on(`GET /v1/agents/${NAME}`, {
      json: { ...record, policy_yaml: policyYaml({ allow: ['search', 'write', 'transfer'] }) },
    });
    const outcomes = await governed.run(['write']);
    await shutdown({ timeoutMs: 100 });
    await between.close();

    expect(outcomes).to.deep.equal(['written']);
    expect(governed.source.policy.decide({ tool: 'transfer' }).outcome).to.equal('needs_approval');
    expect(logger.at('warn')).to.include('Policy refresh failed; the previous policy stays in force');
  });

  it('rejects a forged key at resolve', async () => {
    const { key } = service;
    const forged = `${key.slice(0, -8)}AAAAAAAA`;
    const fault: unknown = await govern(
      { name: NAME, tools, run: callAll },
      { key: forged, baseUrl: service.url },
    ).catch((error: unknown) => error);

    expect(fault).to.have.property('code', 'key_signature_invalid');
  });
});
