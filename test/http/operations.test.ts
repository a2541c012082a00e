import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import { fetchAgent, register } from '../support/agents.ts';
import { sendDecision, sendLlm, timeFromNow } from '../support/audit.ts';
import { decisionEvent, llmInvocation } from '../support/events.ts';
import { eventually } from '../support/eventually.ts';
import { directoryWithProject } from '../support/gate.ts';
import { ingestResult, metricTypes, readMetrics, type Samples } from '../support/metrics.ts';
import { type RunningService, startTestService } from '../support/service.ts';
import { useSharedService } from '../support/shared-service.ts';
import { DAY_MS } from '../../server/durations.ts';

describe('operations', () => {
  const service = useSharedService();

  /** By how much each of these series grows while an action runs. */
  async function growth(series: string[], work: () => Promise<unknown>): Promise<number[]> {
    const before = await readMetrics(service);
    await work();
    const after = await readMetrics(service);
    return series.map((name) => after.value(name) - before.value(name));
  }

  it('GET /healthz and GET /readyz are 200 while the process runs and the store answers', async () => {
    const statuses = [
      (await fetch(`${service.url}/healthz`)).status,
      (await fetch(`${service.url}/readyz`)).status,
    ];

    expect(statuses).to.deep.equal([200, 200]);
  });

  it('GET /metrics is Prometheus text', async () => {
    const response = await fetch(`${service.url}/metrics`);

    expect(response.status).to.equal(200);
    expect(response.headers.get('Content-Type')).to.match(/^text\/plain; version=0\.0\.4/);
  });

  it('GET /metrics has every documented name with its type', async () => {
    const types = metricTypes(await readMetrics(service));
    const expected = {
      gate_http_request_duration_seconds: 'histogram',
      gate_ingest_decisions_total: 'counter',
      gate_decisions_written_total: 'counter',
      gate_ingest_flush_seconds: 'histogram',
      gate_ingest_batch_rows: 'histogram',
      gate_ingest_queue_rows: 'gauge',
      gate_identity_filter_complete: 'gauge',
      gate_log_wait_seconds: 'gauge',
      gate_emitted_events: 'gauge',
      gate_store_up: 'gauge',
      gate_store_broken_parts: 'gauge',
      gate_policy_fetch_total: 'counter',
      gate_policy_sign_total: 'counter',
      gate_mail_total: 'counter',
      process_cpu_seconds_total: 'counter',
      process_resident_memory_bytes: 'gauge',
      nodejs_eventloop_lag_seconds: 'gauge',
    };

    expect(Object.fromEntries(Object.keys(expected).map((name) => [name, types.get(name)]))).to.deep.equal(
      expected,
    );
  });

  it('GET /metrics has every value of the labels of ingest, records and policy fetches from the start', async () => {
    const now = await readMetrics(service);
    const results =
      'accepted duplicate unauthenticated body_invalid occurred_at_out_of_range too_large row_rejected store_unavailable overloaded'.split(
        ' ',
      );
    const labels = {
      'gate_ingest_decisions_total{result=': results,
      'gate_ingest_llm_invocations_total{result=': results,
      'gate_decisions_written_total{outcome=': ['allow', 'deny', 'needs_approval'],
      'gate_policy_fetch_total{result=': ['fresh', 'not_modified', 'unknown'],
    };
    for (const [start, values] of Object.entries(labels))
      expect(now.named(start.slice(0, start.indexOf('{')))).to.have.members(
        values.map((value) => `${start}"${value}"}`),
      );
    expect(now.value(ingestResult('row_rejected'))).to.equal(0);
  });

  const event = decisionEvent();
  const tooLarge = 'x'.repeat(9000);
  const cases: [string, string, (service: RunningService) => Promise<unknown>][] = [
    ['accepted', 'a decision that is written', (s) => sendDecision(s, event)],
    ['duplicate', 'one that was written before', (s) => sendDecision(s, { ...event, outcome: 'deny' })],
    ['unauthenticated', 'one with a bad key', (s) => sendDecision(s, decisionEvent(), { key: 'bad' })],
    ['body_invalid', 'one that is not valid', (s) => sendDecision(s, decisionEvent({ role: 1 }))],
    ['body_invalid', 'one that is not JSON', (s) => sendDecision(s, '{')],
    [
      'occurred_at_out_of_range',
      'one too old',
      (s) => sendDecision(s, decisionEvent({ occurred_at: timeFromNow(-91 * DAY_MS) })),
    ],
    [
      'too_large',
      'one with large arguments',
      (s) => sendDecision(s, decisionEvent({ arguments: { tooLarge } })),
    ],
    ['too_large', 'one with a large hint', (s) => sendDecision(s, decisionEvent({ hint: { tooLarge } }))],
    [
      'too_large',
      'one with a large body',
      (s) => sendDecision(s, decisionEvent({ more: tooLarge.repeat(128) })),
    ],
  ];
  for (const [result, what, send] of cases) {
    it(`counts ${what} as ${result} and nothing else`, async () => {
      const before = await readMetrics(service);

      await send(service);

      const after = await readMetrics(service);
      const moved = after
        .named('gate_ingest_decisions_total')
        .filter((series) => after.value(series) !== before.value(series));
      expect(moved).to.deep.equal([ingestResult(result)]);
      expect(after.value(ingestResult(result)) - before.value(ingestResult(result))).to.equal(1);
    });
  }

  it('counts each written decision once, by outcome', async () => {
    const outcomes = ['allow', 'deny', 'needs_approval'];
    const series = outcomes.map((outcome) => `gate_decisions_written_total{outcome="${outcome}"}`);
    const events = [...outcomes, 'deny'].map((outcome) => decisionEvent({ outcome }));

    const grown = await growth(series, async () => {
      for (const body of [...events, ...events]) await sendDecision(service, body);
      await sendDecision(service, decisionEvent({ outcome: 'none' }));
    });

    expect(grown).to.deep.equal([1, 2, 1]);
  });

  it('counts flushes and their rows, and reports an empty queue and a store that is up', async () => {
    const series = [
      'gate_ingest_flush_seconds_count',
      'gate_ingest_batch_rows_count',
      'gate_ingest_batch_rows_sum',
    ];
    const rows = 40;

    const [flushes = 0, batches = 0, written] = await growth(series, () =>
      Promise.all(Array.from({ length: rows }, () => sendDecision(service, decisionEvent()))),
    );

    expect(written).to.equal(rows);
    expect(flushes).to.be.within(1, rows / 2);
    expect(batches).to.equal(flushes);
    const now = await readMetrics(service);
    expect([now.value('gate_ingest_queue_rows'), now.value('gate_store_up')]).to.deep.equal([0, 1]);
  });

  it('counts policy fetches by result', async () => {
    const name = randomUUID();
    await register(service, { name, tools: ['search'] });
    const results = ['fresh', 'not_modified', 'unknown'];
    const series = results.map((result) => `gate_policy_fetch_total{result="${result}"}`);
    const etag = (await fetchAgent(service, name)).headers.get('ETag') ?? '';

    const grown = await growth(series, async () => {
      await fetchAgent(service, name);
      await fetchAgent(service, name);
      await fetchAgent(service, name, { headers: { 'If-None-Match': etag } });
      await fetchAgent(service, randomUUID());
    });

    expect(grown).to.deep.equal([2, 1, 1]);
  });

  it('does not count usage reports as decisions', async () => {
    const grown = await growth(
      [ingestResult('accepted'), 'gate_decisions_written_total{outcome="allow"}'],
      () => sendLlm(service, llmInvocation()),
    );

    expect(grown).to.deep.equal([0, 0]);
  });

  it('measures each request by route, method and status', async () => {
    const count = (route: string, method: string, status: number) =>
      `gate_http_request_duration_seconds_count{route="${route}",method="${method}",status="${status}"}`;
    const series = [
      count('/v1/audit/decisions', 'POST', 202),
      count('/v1/audit/decisions', 'POST', 401),
      count('/v1/projects/:id/audit/summary', 'GET', 200),
    ];

    const grown = await growth(series, async () => {
      await sendDecision(service, decisionEvent());
      await sendDecision(service, decisionEvent(), { key: 'x' });
      await fetch(`${service.url}/v1/projects/${randomUUID()}/audit/summary`);
    });

    expect(grown).to.deep.equal([1, 1, 1]);
  });

  it('has labels from closed sets only, whatever the request', async () => {
    const name = 'gate_http_request_duration_seconds_count';
    const secret = randomUUID();
    const strange = async () => {
      for (const path of [
        `/${secret}`,
        `/v1/projects/${secret}/audit/summary`,
        `/v1/projects/${secret}/audit/decisions?agent=${secret}`,
        `/v1/audit/decisions/${secret}`,
      ]) {
        for (const method of ['GET', 'POST', 'PROPFIND', 'PURGE'])
          await fetch(`${service.url}${path}`, { method });
      }
      await sendDecision(service, decisionEvent({ agent_name: secret, tool_name: secret, outcome: secret }));
    };
    await strange();
    const before = (await readMetrics(service)).named(name);

    await strange();

    const after: Samples = await readMetrics(service);
    expect(after.named(name)).to.deep.equal(before);
    expect(after.text).to.not.contain(secret).and.not.contain('PURGE');
  });
});

describe('the logs', () => {
  it('hold no secret, at any level', async () => {
    const { dataDir, project } = await directoryWithProject();
    const service = await startTestService({ dataDir, env: { GATE_DEMO: '0', GATE_LOG_LEVEL: 'trace' } });
    const [, payload = '', signature = ''] = project.key.split('.');
    const bad = `${project.key.slice(0, -6)}AAAAAA`;
    const id = randomUUID();

    await sendDecision(service, decisionEvent(), { key: project.key });
    await sendDecision(service, '{', { key: project.key });
    await sendDecision(service, decisionEvent(), { key: bad });
    await sendDecision(service, decisionEvent(), { headers: { Authorization: `Basic ${project.key}` } });
    for (const name of ['access_token', 'apiKey', 'api_key', 'authorization', 'bearer', 'jwt', 'x'])
      await fetch(`${service.url}/v1/audit/decisions?${name}=${project.key}`, { method: 'POST' });
    await fetch(`${service.url}/v1/agents/${project.key}?${project.key.replaceAll('.', '%2E')}`);
    await fetch(`${service.url}/v1/agents/Bearer%20${project.key}?q=%22${project.key}%22&a_${project.key}`);
    await fetch(`${service.url}/v1/audit/decisions?client_secret=cookie-secret`, { method: 'POST' });
    await fetch(`${service.url}/v1/nothing?key=1`, {
      headers: {
        Authorization: `Bearer ${project.key}`,
        Cookie: 'gate_session=cookie-secret',
        'X-Request-Id': id,
      },
    });

    await eventually(() => service.output().includes(id));
    await service.stop();
    for (const secret of [payload, signature.slice(0, 40), 'cookie-secret'])
      expect(service.output()).to.not.contain(secret);
  });
});
