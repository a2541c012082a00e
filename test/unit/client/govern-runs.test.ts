import { writeFile } from 'node:fs/promises';
import { expect } from 'chai';
import { PolicyDeniedError, govern } from '../../../client/index.ts';
import { startAgentWorld } from '../../support/agent-world.ts';
import { conditionally, policyYaml } from '../../support/platform.ts';
import { AGENT_ROUTE } from '../../support/policy-world.ts';
import { temporaryFile } from '../../support/temporary-file.ts';
import { forEachTest } from '../../support/for-each-test.ts';

describe('govern: a run', () => {
  const world = forEachTest(startAgentWorld);
  let { mock, key, v2, logger, ran, governed, agent, toolNamed } = world;
  beforeEach(() => void ({ mock, key, v2, logger, ran, governed, agent, toolNamed } = world));

  it('keeps its policy; a change takes effect on the next run', async () => {
    const bound = await governed({
      onApproval: async () => {
        mock.on(AGENT_ROUTE, conditionally(v2));
        // Another run overlaps this one, and fetches the new policy.
        await bound.run([]);
        return true;
      },
    });
    const current = await bound.run([
      ['transfer', {}],
      ['write', {}],
    ]);
    const next = await bound.run([['write', {}]]);

    expect(bound.source.agentVersionId).to.equal('v-2');
    expect((current[1] as { error: unknown }).error).to.be.instanceOf(PolicyDeniedError);
    expect(next).to.deep.equal([{ value: 'write ran' }]);
  });

  it('keeps the old policy when the response was tampered with', async () => {
    const bound = await governed();
    mock.on(AGENT_ROUTE, {
      json: { ...v2, policy_yaml: policyYaml({ allow: ['search', 'write', 'transfer'] }) },
    });
    const [outcome] = await bound.run([['write', {}]]);

    expect((outcome as { error: unknown }).error).to.be.instanceOf(PolicyDeniedError);
    expect(logger.at('warn')).to.have.length(1);
  });

  it('does not start with a broken local policy', async () => {
    const localPolicy = await temporaryFile('policy.yaml', policyYaml({ allow: ['search'] }));
    const bound = await governed({ localPolicy });
    await writeFile(localPolicy, '');
    const fault: unknown = await bound.run([['search', {}]]).catch((error: unknown) => error);

    expect(fault).to.have.property('code', 'policy_invalid');
    expect(ran).to.deep.equal([]);
  });

  it('warns at resolve of tools that are absent from the policy', async () => {
    const wide = { ...agent, tools: { ...agent.tools, launch: toolNamed('launch') } };
    const bound = await govern(wide, { key, baseUrl: mock.url, logger, bindPolicy: true });
    const [outcome] = await bound.run([['launch', {}]]);

    expect(logger.at('warn')).to.deep.equal(['Tools absent from the policy are denied: launch']);
    expect((outcome as { error: PolicyDeniedError }).error.violations).to.deep.equal(['unknown_tool']);
  });

  it('treats __proto__ and constructor as ordinary tool names', async () => {
    const tools = JSON.parse('{"__proto__":1,"constructor":1}') as Record<string, unknown>;
    for (const name of Object.keys(tools)) {
      Object.defineProperty(tools, name, { value: toolNamed(name), enumerable: true });
    }
    const policy = 'version: 1\ntools: [__proto__]\nroles: {"*": {allow: ["*"]}}\nrules: []\n';
    const odd = { ...agent, tools: tools as typeof agent.tools };
    const bound = await govern(odd, { policy, logger, bindPolicy: true });
    const outcomes = await bound.run([
      ['__proto__', {}],
      ['constructor', {}],
    ]);

    expect(outcomes[0]).to.deep.equal({ value: '__proto__ ran' });
    expect((outcomes[1] as { error: unknown }).error).to.be.instanceOf(PolicyDeniedError);
  });
});
