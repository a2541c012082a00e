import { expect } from 'chai';
import { sendDecision, sendLlm } from '../support/audit.ts';
import { decisionEvent, llmInvocation } from '../support/events.ts';
import { directoryWithProject, type IssuedKey } from '../support/gate.ts';
import { ingestResult, readMetrics } from '../support/metrics.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { freePort } from '../support/listen.ts';

const PASSWORD = 'store-password-7';
const ANSWER_MS_MAX = 5000;

describe('with an unavailable store', () => {
  let service: TestService;
  let project: IssuedKey;
  before(async () => {
    // The root key is in the data directory: the signature of the key is valid, but whether it was revoked is unknown.
    const made = await directoryWithProject();
    project = made.project;
    const env = {
      GATE_DEMO: '0',
      GATE_CLICKHOUSE_URL: `http://gate:${PASSWORD}@127.0.0.1:${await freePort()}/gatehouse`,
    };
    service = await startTestService({ dataDir: made.dataDir, env });
  });
  after(async () => {
    expect(await service.stop()).to.equal(0);
  });

  /** The status, the code and Retry-After of an answer, which must come in time. */
  async function withTimeout(ask: () => Promise<Response>): Promise<unknown[]> {
    const startMs = performance.now();
    const response = await ask();
    const { code } = (await response.json()) as { code?: string };
    expect(performance.now() - startMs).to.be.below(ANSWER_MS_MAX);
    return [response.status, code, response.headers.get('Retry-After')];
  }
  const unavailable = [503, 'store_unavailable', '5'];
  const unauthenticated = [401, 'unauthenticated', null];

  it('starts, and GET /healthz is 200', async () => {
    expect((await fetch(`${service.url}/healthz`)).status).to.equal(200);
  });

  it('GET /readyz is 503 with Retry-After: 5', async () => {
    const response = await fetch(`${service.url}/readyz`);

    expect([response.status, response.headers.get('Retry-After')]).to.deep.equal([503, '5']);
  });

  it('a write is 503 with Retry-After: 5 within 5 s', async () => {
    expect(
      await withTimeout(() => sendDecision(service, decisionEvent(), { key: project.key })),
    ).to.deep.equal(unavailable);
    expect(await withTimeout(() => sendLlm(service, llmInvocation(), { key: project.key }))).to.deep.equal(
      unavailable,
    );
  });

  it('a bad key is 401', async () => {
    const forged = `${project.key.slice(0, -6)}AAAAAA`;
    for (const key of ['bad', '', forged]) {
      expect(await withTimeout(() => sendDecision(service, decisionEvent(), { key }))).to.deep.equal(
        unauthenticated,
      );
      expect(await withTimeout(() => sendLlm(service, llmInvocation(), { key }))).to.deep.equal(
        unauthenticated,
      );
    }
  });

  it('a read is 503 with Retry-After: 5 within 5 s', async () => {
    for (const endpoint of ['summary', 'decisions']) {
      const path = `/v1/projects/${project.project_id}/audit/${endpoint}`;
      expect(await withTimeout(() => fetch(service.url + path))).to.deep.equal(unavailable);
      expect(await withTimeout(() => fetch(`${service.url}${path}?window=1h`))).to.deep.equal([
        422,
        'window_invalid',
        null,
      ]);
    }
  });

  it('answers twenty concurrent writes within 5 s', async () => {
    const answers = Array.from({ length: 20 }, () =>
      withTimeout(() => sendDecision(service, decisionEvent(), { key: project.key })),
    );

    expect(await Promise.all(answers)).to.deep.equal(answers.map(() => unavailable));
  });

  it('the key set is served', async () => {
    expect((await fetch(`${service.url}/v1/.well-known/keys`)).status).to.equal(200);
  });

  it('reports it in the metrics', async () => {
    const before = await readMetrics(service);
    await sendDecision(service, decisionEvent(), { key: project.key });
    const after = await readMetrics(service);

    expect([after.value('gate_store_up'), after.named('gate_store_up').length]).to.deep.equal([0, 1]);
    expect(
      after.value(ingestResult('store_unavailable')) - before.value(ingestResult('store_unavailable')),
    ).to.equal(1);
  });

  it('never shows the password of the store', async () => {
    const texts = [];
    for (const path of ['/readyz', '/metrics', `/v1/projects/x/audit/summary`])
      texts.push(await (await fetch(service.url + path)).text());

    expect([service.output(), ...texts].filter((text) => text.includes(PASSWORD))).to.deep.equal([]);
    expect(service.output().length).to.be.above(0);
  });
});
