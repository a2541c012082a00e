import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import {
  accepted,
  DAY_MS,
  invalid,
  outcomeOf,
  readDecisions,
  sendDecision,
  sendLlm,
  timeFromNow,
} from '../support/audit.ts';
import { decisionEvent, llmInvocation } from '../support/events.ts';
import { directoryWithProject, type IssuedKey } from '../support/gate.ts';
import { runOnStore } from '../support/engine.ts';
import { exchange, head } from '../support/raw-http.ts';
import { startTestService, type TestService } from '../support/service.ts';

const unauthenticated = { status: 401, code: 'unauthenticated' };
const outOfRange = { status: 400, code: 'occurred_at_out_of_range' };
const tooOld = { occurred_at: timeFromNow(-91 * DAY_MS) };
const tooLarge = { arguments: { a: 'x'.repeat(9000) } };

describe('the order of ingest: key, body, occurred_at, sizes, agent version, write', () => {
  let service: TestService;
  before(async () => {
    service = await startTestService();
  });
  after(() => service.stop());

  it('a bad key is 401 whatever the body', async () => {
    for (const send of [sendDecision, sendLlm]) {
      for (const body of [
        '{',
        '[]',
        'x'.repeat(70_000),
        JSON.stringify(decisionEvent({ outcome: 'x', ...tooOld, ...tooLarge })),
      ]) {
        expect(await outcomeOf(await send(service, body, { key: 'bad' }))).to.deep.equal(unauthenticated);
        expect(
          await outcomeOf(
            await send(service, body, { key: 'bad', headers: { 'Content-Type': 'text/plain' } }),
          ),
        ).to.deep.equal(unauthenticated);
      }
    }
  });

  it('a bad key gets 401 before the body is read', async () => {
    for (const path of ['/v1/audit/decisions', '/v1/audit/llm-invocations']) {
      const request = head(path, {
        Authorization: 'Bearer bad',
        'Content-Type': 'application/json',
        'Content-Length': 1000,
      });

      const answer = await exchange(service.url, request);

      expect(answer.status).to.equal(401);
      expect(JSON.parse(answer.body)).to.include({ code: 'unauthenticated' });
    }
  });

  it('the body comes before occurred_at', async () => {
    const event = decisionEvent({ role: 1, ...tooOld, ...tooLarge });

    expect(await outcomeOf(await sendDecision(service, event))).to.deep.equal(invalid);
  });

  it('occurred_at comes before the sizes', async () => {
    expect(
      await outcomeOf(await sendDecision(service, decisionEvent({ ...tooOld, ...tooLarge }))),
    ).to.deep.equal(outOfRange);
  });

  it('the sizes come before the write', async () => {
    const event = decisionEvent({ session_id: randomUUID() });

    const large = await outcomeOf(await sendDecision(service, { ...event, ...tooLarge }));
    const small = await outcomeOf(await sendDecision(service, event));

    expect([large, small]).to.deep.equal([{ status: 413, code: 'arguments_too_large' }, accepted]);
    expect(
      (await readDecisions(service, { session_id: String(event['session_id']) })).items[0]?.['arguments'],
    ).to.deep.equal(event['arguments']);
  });

  it('for usage reports the body comes before occurred_at, too', async () => {
    expect(await outcomeOf(await sendLlm(service, llmInvocation({ model: '', ...tooOld })))).to.deep.equal(
      invalid,
    );
    expect(await outcomeOf(await sendLlm(service, llmInvocation(tooOld)))).to.deep.equal(outOfRange);
  });
});

describe('agent_version_id', () => {
  let service: TestService;
  let project: IssuedKey;
  before(async () => {
    const made = await directoryWithProject();
    project = made.project;
    const versions = [
      [project.project_id, 'known', 1, 'version-1'],
      [project.project_id, 'known', 2, 'version-2'],
      [project.project_id, 'known', 10, 'version-10'],
      ['another-project', 'theirs', 1, 'version-theirs'],
    ];
    const rows = versions.map(
      ([id, name, version, versionId]) => `('${id}', '${name}', ${version}, now64(3), '${versionId}')`,
    );
    const columns = 'project_id, agent_name, version, created_at, agent_version_id';
    await runOnStore(made.dataDir, `INSERT INTO agent_versions (${columns}) VALUES ${rows.join(', ')}`);
    service = await startTestService({ dataDir: made.dataDir, env: { GATE_DEMO: '0' } });
  });
  after(() => service.stop());

  async function versionOf(agent_name: string): Promise<unknown> {
    await sendDecision(service, decisionEvent({ agent_name, agent_version_id: 'mine' }), {
      key: project.key,
    });
    return (await readDecisions(service, { agent: agent_name }, project.project_id)).items[0]
      ?.agent_version_id;
  }

  it('is the latest version of the agent in the project of the key', async () => {
    expect(await versionOf('known')).to.equal('version-10');
  });

  it('is the empty string for an agent that is not registered', async () => {
    expect(await versionOf('unknown')).to.equal('');
  });

  it('is the empty string for an agent that only another project has', async () => {
    expect(await versionOf('theirs')).to.equal('');
  });
});
