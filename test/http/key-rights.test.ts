import { expect } from 'chai';
import { decodeJwt } from 'jose';
import { call, codeOf, jsonOf } from '../support/accounts.ts';
import { policyText, register } from '../support/agents.ts';
import { sendDecision, sendLlm } from '../support/audit.ts';
import { decisionEvent, llmInvocation } from '../support/events.ts';
import { issue, type Key, keysPath } from '../support/keys.ts';
import { useSharedService } from '../support/shared-service.ts';

type Problem = { code: string; detail: string };

const ALL = 'emit_audit fetch_policy register_agent read_audit edit_policy';

describe('the rights of a bearer key', () => {
  const service = useSharedService();
  before(async () => {
    await register(service, { name: 'bot', tools: ['search'] });
    await register(service, { name: 'other bot%', tools: ['search'] });
  });

  const keyFor = async (scope: string, agents?: string[]) =>
    (await issue(service, service.owner, { scope, ...(agents === undefined ? {} : { agents }) })).key;
  const agentPath = (name: string) => `/v1/projects/${service.project_id}/agents/${encodeURIComponent(name)}`;

  /** All that a key may be used for, about one agent. */
  const USES: Record<string, (key: string, agent: string) => Promise<Response>> = {
    emit: (key, agent_name) => sendDecision(service, decisionEvent({ agent_name }), { key }),
    'emit usage': (key, agent_name) => sendLlm(service, llmInvocation({ agent_name }), { key }),
    fetch: (key, agent) => call(service, `/v1/agents/${encodeURIComponent(agent)}`, { key }),
    register: (key, name) => register(service, { name, tools: ['search'] }, { key }),
    save: (key, agent) => call(service, agentPath(agent), { method: 'PUT', key, body: { system_md: 'x' } }),
    check: (key, agent) =>
      call(service, `${agentPath(agent)}/check`, { key, body: { policy_yaml: policyText('draft') } }),
  };
  const NEEDS: Record<string, string> = {
    emit: 'emit_audit',
    'emit usage': 'emit_audit',
    fetch: 'fetch_policy',
    register: 'register_agent',
    save: 'edit_policy',
    check: 'edit_policy',
  };

  const MAY: Record<string, string[]> = {
    emit_audit: ['emit', 'emit usage', 'fetch', 'register'],
    fetch_policy: ['fetch'],
    register_agent: ['register'],
    read_audit: [],
    edit_policy: ['save', 'check'],
    'register_agent edit_policy': ['register', 'save', 'check'],
    'emit_audit read_audit': ['emit', 'emit usage', 'fetch', 'register'],
  };
  for (const [scope, may] of Object.entries(MAY)) {
    it(`${scope}: ${may.join(', ') || 'nothing but reads'}; else 403 that names the missing scope`, async () => {
      const key = await keyFor(scope);
      const done: string[] = [];
      for (const [use, run] of Object.entries(USES)) {
        const response = await run(key, 'bot');
        if (response.ok) done.push(use);
        else {
          const { code, detail } = await jsonOf<Problem>(response);
          expect([response.status, code], use).to.deep.equal([403, 'forbidden']);
          expect(detail, use).to.include(NEEDS[use]);
        }
      }
      expect(done).to.deep.equal(may);
    });
  }

  it("cannot change a policy by the key with which the policy's agent runs", async () => {
    const policy = async () =>
      (
        await jsonOf<{ policy_yaml: string }>(
          USES['fetch']?.(service.key, 'bot') ?? Promise.reject(new Error()),
        )
      ).policy_yaml;
    const before = await policy();

    const body = { policy_yaml: policyText('everything is allowed', '*') };
    const response = await call(service, agentPath('bot'), { method: 'PUT', key: service.key, body });

    expect([response.status, await policy()]).to.deep.equal([403, before]);
  });

  it('are narrowed to agents: all else is 403, reads are not narrowed', async () => {
    const key = await keyFor(ALL, ['bot', 'a second']);
    for (const [use, run] of Object.entries(USES)) {
      const [own, foreign, unknown] = [
        await run(key, 'bot'),
        await run(key, 'other bot%'),
        await run(key, 'new'),
      ];
      expect([own.ok, foreign.status, unknown.status], use).to.deep.equal([true, 403, 403]);
      expect(await codeOf(foreign)).to.equal('forbidden');
    }
    expect((await register(service, { name: 'a second', tools: [] }, { key })).status).to.equal(201);
    const read = await call(service, `/v1/projects/${service.project_id}/audit/summary`, { key });
    expect(read.status).to.equal(200);
  });

  it('are claims of the key, and are shown in the list', async () => {
    const agents = ['bot', 'ü', 'bot'];
    const issued = await issue(service, service.owner, {
      name: 'n',
      scope: 'read_audit emit_audit read_audit',
      agents,
    });

    expect(issued).to.deep.include({ scope: 'read_audit emit_audit', agents: ['bot', 'ü'] });
    expect(decodeJwt(issued.key)).to.deep.include({ scope: 'read_audit emit_audit', agents: ['bot', 'ü'] });
    const { items } = await jsonOf<{ items: Key[] }>(
      call(service, keysPath(service.owner), { cookie: service.owner.cookie }),
    );
    const listed = items.find(({ key_id }) => key_id === issued.key_id);
    expect(listed).to.deep.include({ scope: 'read_audit emit_audit', agents: ['bot', 'ü'] });
    expect(items.find(({ name }) => name === '')).not.to.have.property('agents');
  });

  it('fit into a key for 50 agents with the longest ASCII names, which works', async () => {
    const agents = Array.from({ length: 50 }, (_, n) => `${n}`.padEnd(200, 'x'));
    const body = { scope: ALL, agents, expires_in_days: 36_500, name: 'x'.repeat(100) };
    const { key } = await issue(service, service.owner, body);

    const statuses = [await USES['emit']?.(key, agents[49] ?? ''), await USES['emit']?.(key, 'bot')];

    expect(statuses.map((response) => response?.status)).to.deep.equal([202, 403]);
  });

  const bad: unknown[] = [
    { scope: '' },
    { scope: 'root' },
    { scope: 'emit_audit root' },
    { scope: 'emit_audit  read_audit' },
    { scope: ' emit_audit' },
    { scope: 'emit_audit,read_audit' },
    { scope: 'EMIT_AUDIT' },
    { scope: null },
    { scope: ['emit_audit'] },
    { agents: [] },
    { agents: null },
    { agents: 'bot' },
    { agents: [''] },
    { agents: ['a/b'] },
    { agents: ['..'] },
    { agents: [7] },
    { agents: ['x'.repeat(201)] },
    { agents: Array.from({ length: 51 }, (_, n) => `${n}`) },
    { agents: Array.from({ length: 50 }, (_, n) => `${n}`.padEnd(200, '好')) },
  ];
  for (const body of bad) {
    it(`are refused with 422: ${JSON.stringify(body).slice(0, 50)}`, async () => {
      const response = await call(service, keysPath(service.owner), { cookie: service.owner.cookie, body });

      expect([response.status, await codeOf(response)]).to.deep.equal([422, 'body_invalid']);
    });
  }
});
