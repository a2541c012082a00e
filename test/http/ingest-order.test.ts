import { expect } from 'chai';
import { fetchAgent, register, save, type FetchedAgent } from '../support/agents.ts';
import { jsonOf } from '../support/accounts.ts';
import { randomUUID } from 'node:crypto';
import {
  accepted,
  invalid,
  outcomeOf,
  readDecisions,
  sendDecision,
  sendLlm,
  timeFromNow,
} from '../support/audit.ts';
import { decisionEvent, llmInvocation } from '../support/events.ts';
import { exchange, head } from '../support/raw-http.ts';
import { sharedService, useSharedService } from '../support/shared-service.ts';
import { DAY_MS } from '../../server/durations.ts';

const unauthenticated = { status: 401, code: 'unauthenticated' };
const outOfRange = { status: 400, code: 'occurred_at_out_of_range' };
const tooOld = { occurred_at: timeFromNow(-91 * DAY_MS) };
const tooLarge = { arguments: { a: 'x'.repeat(9000) } };

describe('the order of ingest: key, body, occurred_at, sizes, agent version, write', () => {
  const service = useSharedService();

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

  it('the body of a usage report comes before its occurred_at', async () => {
    expect(await outcomeOf(await sendLlm(service, llmInvocation({ model: '', ...tooOld })))).to.deep.equal(
      invalid,
    );
    expect(await outcomeOf(await sendLlm(service, llmInvocation(tooOld)))).to.deep.equal(outOfRange);
  });
});

describe('agent_version_id', () => {
  const service = useSharedService();
  before(async () => {
    await register(service, { name: 'known', tools: ['search'] });
    for (let version = 2; version <= 10; version += 1)
      await save(service, 'known', { system_md: `v${version}` });
    await register(await sharedService(), { name: 'theirs', tools: ['search'] });
  });

  async function versionOf(agent_name: string): Promise<unknown> {
    await sendDecision(service, decisionEvent({ agent_name, agent_version_id: 'mine' }));
    return (await readDecisions(service, { agent: agent_name })).items[0]?.agent_version_id;
  }

  it('is the latest version of the agent in the project of the key, by number and not by text', async () => {
    const { agent_version_id, version } = await jsonOf<FetchedAgent>(fetchAgent(service, 'known'));

    expect([version, await versionOf('known')]).to.deep.equal([10, agent_version_id]);
  });

  it('is the empty string for an agent that is not registered', async () => {
    expect(await versionOf('unknown')).to.equal('');
  });

  it('is the empty string for an agent that only another project has', async () => {
    expect(await versionOf('theirs')).to.equal('');
  });
});
