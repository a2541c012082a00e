import { expect } from 'chai';
import { registerAgent, type RegisterOptions } from '../../../client/index.ts';
import { withEnvironment } from '../../support/environment.ts';
import { forEachTest } from '../../support/for-each-test.ts';
import { startMockServer } from '../../support/mock-server.ts';
import { createSigner, policyYaml } from '../../support/platform.ts';

const ROUTE = 'POST /v1/agents';

describe('registerAgent', () => {
  const mock = forEachTest(() => startMockServer());
  const faultOf = (variables: Record<string, string>, more: Partial<RegisterOptions> = {}) =>
    withEnvironment({ GATE_BASE_URL: mock.url, ...variables }, () =>
      registerAgent({ agentName: 'bot', tools: ['search'], ...more }).then(
        () => expect.fail('it was registered'),
        ({ name, code, status }: { name: string; code?: string; status?: number }) => [name, code, status],
      ),
    );

  it('posts the manifest with the key', async () => {
    const json = { agent_id: 'a', agent_version_id: 'v', version: 3 };
    mock.on(ROUTE, { status: 201, json }, { status: 200, json });
    const register = () =>
      registerAgent({ agentName: 'bot', tools: ['search'], policyKey: 'k', baseUrl: mock.url });

    expect(await register()).to.deep.equal({ agentId: 'a', agentVersionId: 'v', version: 3, isNew: true });
    expect((await register()).isNew).to.equal(false);
    const [request] = mock.seen(ROUTE);
    expect(request?.headers).to.include({ authorization: 'Bearer k', 'content-type': 'application/json' });
    expect(JSON.parse(request?.text ?? '')).to.deep.equal({ name: 'bot', tools: ['search'] });
  });

  it('saves a policy after the registration, and checks it before', async () => {
    const json = { agent_id: 'a', agent_version_id: 'v', version: 1 };
    const policy = policyYaml({ allow: ['search'] });
    const key = await (await createSigner()).bearerKey('p-1');
    mock.on(ROUTE, { status: 201, json });
    mock.on('PUT /v1/projects/p-1/agents/a%20bot', { json: { ...json, agent_version_id: 'w', version: 2 } });
    const of = { agentName: 'a bot', tools: ['search'], key, baseUrl: mock.url };
    const saved = await registerAgent({ ...of, policy });
    const fault: unknown = await registerAgent({ ...of, policy: 'version: 2' }).catch(
      (error: unknown) => error,
    );

    expect(saved).to.deep.equal({ agentId: 'a', agentVersionId: 'w', version: 2, isNew: true });
    expect(mock.requests.map(({ method, text }) => [method, JSON.parse(text) as unknown])).to.deep.equal([
      ['POST', { name: 'a bot', tools: ['search'] }],
      ['PUT', { policy_yaml: policy }],
    ]);
    expect(fault).to.have.property('code', 'policy_invalid');
  });

  it('sends nothing without a key, or in local mode', async () => {
    expect((await faultOf({}))[0]).to.equal('ValueError');
    expect((await faultOf({ GATE_KEY: 'k', GATE_LOCAL_MODE: '1' }))[0]).to.equal('ValueError');
    expect(mock.requests).to.deep.equal([]);
  });

  it('reports why an agent is not registered', async () => {
    mock.on(ROUTE, { status: 401 }, { status: 403 }, { json: { version: 1 } }, { fault: 'reset' });
    const key = { GATE_KEY: 'k' };

    expect(await faultOf(key)).to.deep.equal(['PolicyError', 'unauthenticated', 401]);
    expect(await faultOf(key)).to.deep.equal(['PolicyError', 'platform_error', 403]);
    expect(await faultOf(key)).to.deep.equal(['PolicyError', 'record_invalid', undefined]);
    expect(await faultOf(key)).to.deep.equal(['PolicyError', 'unreachable', undefined]);
  });
});
