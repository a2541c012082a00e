import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import {
  bindPolicy,
  configure,
  govern,
  PolicyDeniedError,
  registerAgent,
  shutdown,
  type DecisionInput,
  type GovernOptions,
} from '../../client/index.ts';
import { jsonOf } from '../support/accounts.ts';
import { fetchAgent, register, save } from '../support/agents.ts';
import { readDecisions } from '../support/audit.ts';
import { captureLogger } from '../support/capture-logger.ts';
import { keySetOf } from '../support/keys.ts';
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

  /** Calls the given tools, one after the other; a denied call is reported by its outcome. */
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

  const bind = (run: typeof callAll = callAll, more: Omit<GovernOptions, 'bindPolicy'> = {}) => {
    const options = { key: service.key, apiKey: service.key, baseUrl: service.url, logger: captureLogger() };
    return govern({ name: NAME, tools, run }, { ...options, ...more, bindPolicy: true });
  };

  it('registers an agent from nothing, whose default policy lets it read', async () => {
    const agentName = `new-bot-${randomUUID()}`;
    const to = { agentName, key: service.key, baseUrl: service.url };
    const tools = ['write', { name: 'search', annotations: { readOnlyHint: true } }];
    const first = await registerAgent({ ...to, tools });
    const again = await registerAgent({ ...to, tools });
    const run = await (await bindPolicy({ ...to, logger: captureLogger() })).startRun();

    expect(first).to.include({ version: 1, isNew: true });
    expect(again).to.deep.equal({ ...first, isNew: false });
    expect(run.decide('search', {}).outcome).to.equal('allow');
    expect(run.decide('write', {}).outcome).to.equal('needs_approval');
    const fault: unknown = await registerAgent({ ...to, tools: [''] }).catch((error: unknown) => error);
    expect(fault).to.include({ code: 'platform_error', status: 422 });
    expect(fault).to.have.property('message').that.includes('body_invalid');
  });

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

  it('stores the denial of a tool by whatever name it is called', async () => {
    const userId = randomUUID();
    const to = { agentName: NAME, key: service.key, apiKey: service.key, baseUrl: service.url };
    const bound = await bindPolicy({ ...to, logger: captureLogger() });
    const run = await bound.startRun({ userId });
    for (const name of ['', 'nul\0', 'lone\ud800', '😀'.repeat(201), 'x'.repeat(1_000)])
      await run.call(name, {}, () => expect.fail('it ran')).catch((error: unknown) => error);
    await shutdown();

    expect(bound.gate.stats()).to.include({ sent: 5, failed: 0 });
    const { items } = await readDecisions(service, { user_id: userId, outcome: 'deny' });
    expect(items.map(({ tool_name }) => tool_name)).to.have.members([
      '(none)', 'nul\ufffd', 'lone\ufffd', '😀'.repeat(200), 'x'.repeat(200),
    ]); // prettier-ignore
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
    const record = await jsonOf<Record<string, unknown>>(fetchAgent(service, NAME));
    between.on('GET /v1/.well-known/keys', { json: await keySetOf(service) });
    between.on(`GET /v1/agents/${NAME}`, { json: record });
    const governed = await bind(callAll, { baseUrl: between.url, logger });
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

  it('stores what is emitted in batches, except what the service rejects', async () => {
    const logger = captureLogger();
    const gate = configure({ apiKey: service.key, baseUrl: service.url, logger, batch: true });
    const agent_name = 'batch-bot';
    const decision = (n: number, more: Partial<DecisionInput> = {}) =>
      gate.emit({ agent_name, tool_name: `tool-${n}`, outcome: 'allow', ...more });
    for (let n = 0; n < 150; n += 1) decision(n);
    const event_id = crypto.randomUUID();
    decision(150, { event_id });
    decision(151, { event_id });
    decision(152, { outcome: 'maybe' as never });
    decision(153, { hint: { text: 'x'.repeat(5_000) } });
    gate.emitLlm({ agent_name, model: 'm-1', input_tokens: 1, output_tokens: 2 });
    gate.emitLlm({ agent_name, model: 'm-1', input_tokens: -1, output_tokens: 2 });
    await shutdown();

    expect(gate.stats()).to.deep.equal({ sent: 153, failed: 3, dropped: 0, in_flight: 0 });
    expect(logger.at('warn').toSorted()).to.deep.equal([
      'Audit ingest rejected events: body_invalid',
      'Audit ingest rejected events: body_invalid, hint_too_large',
    ]);
    const { total, items } = await readDecisions(service, { agent: agent_name, limit: '200' });
    expect(total).to.equal(151);
    const stored = items.map(({ tool_name }) => tool_name);
    expect(new Set(stored)).to.deep.equal(new Set(Array.from({ length: 151 }, (_, n) => `tool-${n}`)));
  });

  it('stores the decisions of a governed agent in batches', async () => {
    const governed = await bind(callAll, { batch: true });
    await governed.run(['search'], { sessionId: 'in a batch' });
    await shutdown();

    expect(governed.gate.stats()).to.include({ sent: 1, failed: 0 });
    const { items } = await readDecisions(service, { agent: NAME });
    expect(items.map(({ session_id }) => session_id)).to.include('in a batch');
  });
});
