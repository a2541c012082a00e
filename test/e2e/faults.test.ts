import { expect } from 'chai';
import { setTimeout as sleep } from 'node:timers/promises';
import { REVOCATION_AGE_MS_MAX } from '../../server/limits.ts';
import { call, jsonOf, newPerson } from '../support/accounts.ts';
import { readAllDecisions, sendDecision, tally } from '../support/audit.ts';
import type { Fault, FaultName } from '../support/clickhouse-server/faults.ts';
import {
  expectAnswered,
  type Probe,
  probe,
  readAll,
  recovery,
  RECOVERY_MS_MAX,
  write,
  writeMany,
  type WriteProbe,
} from '../support/clickhouse-server/probes.ts';
import { onServer, useServiceOnServer } from '../support/clickhouse-server/services.ts';
import type { ClickHouseServer } from '../support/clickhouse-server/start.ts';
import { decisionEvent } from '../support/events.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { readMetrics } from '../support/metrics.ts';
import { eventually } from '../support/eventually.ts';

const WRITES = 12;

/** A fault of the store: its name, how to cause it, and how to end it. */
type Case = {
  name: string;
  start: (server: ClickHouseServer) => unknown;
  end: (server: ClickHouseServer) => unknown;
  /** How long it lasts while requests arrive. */
  lastsMs?: number;
  /** Whether the writes during the fault are refused. If left out, they may be accepted. */
  refuses?: boolean;
};

const fault = (name: string, faults: Fault[], refuses = true): Case => ({
  name,
  start: (server) => server.fail(...faults),
  end: (server) => server.fail(),
  refuses,
});
const failing = (name: FaultName, on: Fault['on'] = 'insert') =>
  fault(name, [{ on, does: 'fail', with: name }]);

const CASES: Case[] = [
  {
    name: 'killed',
    start: (server) => server.kill(),
    end: (server) => server.start(),
    refuses: true,
    lastsMs: 1000,
  },
  {
    name: 'frozen for 10 s',
    start: (server) => server.freeze(),
    end: (server) => server.thaw(),
    refuses: true,
    lastsMs: 10_000,
  },
  fault('slow: 2 s per insert', [{ on: 'insert', does: 'wait', ms: 2000 }], false),
  fault('silent', [{ on: 'all', does: 'wait', ms: 20_000 }]),
  fault(
    'half a body for an insert that was carried out',
    [{ on: 'insert', does: 'half a body', when: 'after' }],
    false,
  ),
  fault('half a body for an insert that was not', [{ on: 'insert', does: 'half a body', when: 'before' }]),
  fault('half a body for everything else', [{ on: 'other', does: 'half a body', when: 'after' }]),
  fault('a proxy answers with an empty page', [{ on: 'all', does: 'page' }]),
  fault('hangs up on everything', [{ on: 'all', does: 'hang up', when: 'before' }]),
  failing('TOO_MANY_PARTS'),
  failing('MEMORY_LIMIT_EXCEEDED', 'all'),
  failing('TABLE_IS_READ_ONLY'),
  failing('READONLY', 'all'),
  failing('AUTHENTICATION_FAILED', 'all'),
  failing('NOT_ENOUGH_SPACE'),
];

describe('faults of the store', () => {
  const { server, service } = useServiceOnServer();

  it('the gauge of the queue counts the waiting rows while inserts are slow, and is 0 when they are written', async () => {
    const queued = async () => (await readMetrics(service)).value('gate_ingest_queue_rows');
    await server.fail({ on: 'insert', does: 'wait', ms: 800, table: 'decisions' });

    // One after the other: those that arrive while an insert is on its way to the store wait for the next one.
    const writes: Promise<Response>[] = [];
    await eventually(async () => {
      writes.push(sendDecision(service, decisionEvent()));
      return (await queued()) > 0;
    });
    const answers = await Promise.all(writes);
    await server.fail();

    expect(tally(answers)).to.deep.equal({ '202': writes.length });
    expect(await queued()).to.equal(0);
  });

  for (const { name, start, end, lastsMs = 0, refuses } of CASES) {
    it(`${name}: callers get 503 in time, nothing is lost or doubled, recovery within 5 s`, async () => {
      const agent = `fault ${name}`;
      // Some are in progress when it begins, some arrive while it lasts.
      const early = writeMany(service, agent, WRITES);
      await start(server);
      const startMs = performance.now();
      const [before, during, reads] = await Promise.all([
        early,
        writeMany(service, agent, WRITES),
        readAll(service),
      ]);
      await sleep(Math.max(0, lastsMs - (performance.now() - startMs)));
      await end(server);

      const recoveredMs = await recovery(service, `${agent} over`);

      expectAnswered([...before, ...during, ...reads]);
      if (refuses === true) expect(during.map(({ status }) => status)).to.deep.equal(during.map(() => 503));
      expect(recoveredMs).to.be.below(RECOVERY_MS_MAX);
      await holdsEachOnce(service, agent, [...before, ...during]);
      expectAnswered(await readAll(service));
    });
  }

  it('an empty page that a proxy answers is not an empty store', async () => {
    await server.fail({ on: 'all', does: 'page' });
    const [summary, decisions] = await readAll(service);
    await server.fail();

    expect([summary?.status, decisions?.status]).to.deep.equal([503, 503]);
    expect(await recovery(service, 'empty page over')).to.be.below(RECOVERY_MS_MAX);
  });

  it('a queued read is answered in time when the store freezes', async () => {
    const { url, demo } = service;
    const read = (path: string) =>
      probe(() =>
        fetch(`${url}/v1/projects/${demo.project_id}/${path}`, {
          headers: { Authorization: `Bearer ${demo.key}` },
        }),
      );
    server.freeze();
    const reads = await Promise.all(
      Array.from({ length: 25 }, () => [read('audit/summary'), read('agents')]).flat(),
    );
    server.thaw();

    expectAnswered(reads);
    expect(reads.map(({ status }) => status)).to.deep.equal(reads.map(() => 503));
    expect(await recovery(service, 'frozen readers over')).to.be.below(RECOVERY_MS_MAX);
    expectAnswered(await readAll(service));
  });

  it('a bad key and a revoked key are 401, not 503, with the store unavailable', async () => {
    const { cookie, project } = await newPerson(service);
    const keys = `/v1/projects/${project.id}/keys`;
    const revoked = await jsonOf<{ key: string; key_id: string }>(call(service, keys, { cookie, body: {} }));
    expect((await sendDecision(service, decisionEvent(), { key: revoked.key })).status).to.equal(202);
    await call(service, `${keys}/${revoked.key_id}`, { cookie, method: 'DELETE' });
    await server.kill();
    const forged = `${service.key.slice(0, -6)}AAAAAA`;
    const ask = (key: string) => probe(() => sendDecision(service, decisionEvent(), { key }));
    // Until the known revocations are too old to accept a key.
    while ((await ask(service.key)).code !== 'store_unavailable') await sleep(100);
    await sleep(REVOCATION_AGE_MS_MAX);

    const answers = await Promise.all(['bad', forged, revoked.key].map(ask));
    await server.start();

    expect(answers.map(({ status }) => status)).to.deep.equal([401, 401, 401]);
    expect(await recovery(service, 'bad key over')).to.be.below(RECOVERY_MS_MAX);
  });

  it('a re-post while the store is silent is answered in time and becomes one record', async () => {
    await server.fail({ on: 'insert', does: 'wait', ms: 20_000 });
    const first = await writeMany(service, 'again', 5);

    // Their rows are still in progress.
    const again = await Promise.all(first.map(({ event }) => write(service, event)));
    await server.fail();

    expectAnswered([...first, ...again]);
    expect([...first, ...again].map(({ status }) => status)).to.deep.equal(
      Array.from({ length: 10 }, () => 503),
    );
    expect(await recovery(service, 'again over')).to.be.below(3 * RECOVERY_MS_MAX);
    await holdsEachOnce(service, 'again', first);
  });

  it('an insert whose connection breaks after the rows were written is retried: one record each', async () => {
    await server.fail({ on: 'insert', table: 'decisions', does: 'hang up', when: 'after', times: 1 });

    const writes = await writeMany(service, 'hang-up', WRITES);

    expect(writes.map(({ status }) => status)).to.deep.equal(writes.map(() => 202));
    await holdsEachOnce(service, 'hang-up', writes);
  });

  it('SIGTERM while the store is silent: every caller is answered, and the exit code is 0 within 10 s', async () => {
    await server.fail({ on: 'insert', does: 'wait', ms: 30_000 });
    const writes = writeMany(service, 'silent', WRITES);
    await sleep(200);

    const startMs = performance.now();
    const code = await service.stop();
    const tookMs = performance.now() - startMs;

    expect(code).to.equal(0);
    expect(tookMs).to.be.below(10_000);
    expectAnswered(await writes);
  });

  it("a service that starts without the store answers 503, and works within 5 s of the store's return without a restart", async () => {
    await server.kill();
    const first = await startTestService({ env: onServer(server, { GATE_DEMO: '0' }) });
    const answers: Probe[] = [await probe(() => fetch(`${first.url}/readyz`))];
    answers.push(await probe(() => fetch(`${first.url}/v1/projects/x/audit/summary`)));

    await server.start();
    const backMs = performance.now();
    let ready = await probe(() => fetch(`${first.url}/v1/projects/x/audit/summary`));
    while (ready.status !== 200 && performance.now() - backMs < 4 * RECOVERY_MS_MAX) {
      await sleep(100);
      ready = await probe(() => fetch(`${first.url}/v1/projects/x/audit/summary`));
    }
    const tookMs = performance.now() - backMs;
    await first.stop();

    expectAnswered(answers);
    expect(answers.map(({ status }) => status)).to.deep.equal([503, 503]);
    expect(ready.status).to.equal(200);
    expect(tookMs).to.be.below(RECOVERY_MS_MAX);
  });

  it('a store that is frozen at the start does not keep the service from listening', async () => {
    server.freeze();

    const first = await startTestService({ env: onServer(server, { GATE_DEMO: '0' }) });
    const answer = await probe(() => fetch(`${first.url}/v1/projects/x/audit/summary`));
    server.thaw();
    await first.stop();

    expectAnswered([answer]);
    expect(answer.status).to.equal(503);
  });
});

describe('a full disk, with GATE_READ_AUTH=required', () => {
  const { server, service } = useServiceOnServer({ GATE_READ_AUTH: 'required' });

  it('answers the reads whose entry is written, and 503 to exports and the first of another kind', async () => {
    const read = async (path: string) => {
      const headers = { Authorization: `Bearer ${service.key}` };
      const url = `${service.url}/v1/projects/${service.project_id}/audit/${path}`;
      return (await probe(() => fetch(url, { headers }))).status;
    };
    const readEach = async () => [
      await read('summary'),
      await read('decisions'),
      await read('decisions/export'),
    ];
    expect(await read('summary')).to.equal(200);

    await server.fail({ on: 'insert', does: 'fail', with: 'NOT_ENOUGH_SPACE' });
    const during = await readEach();
    await server.fail();

    expect(during).to.deep.equal([200, 503, 503]);
    expect(await readEach()).to.deep.equal([200, 200, 200]);
  });
});

/** Everything acknowledged is there, and nothing twice. Refused events can be sent again and are then there as well. */
async function holdsEachOnce(service: TestService, agent: string, writes: WriteProbe[]): Promise<void> {
  const idOf = ({ event }: WriteProbe) => String(event['event_id']);
  const stored = (await readAllDecisions(service, agent)).map(({ event_id }) => event_id);
  const acknowledged = writes.filter(({ status }) => status === 202).map(idOf);

  expect(new Set(stored).size).to.equal(stored.length);
  expect(acknowledged.filter((id) => !stored.includes(id))).to.deep.equal([]);
  const again = await Promise.all(writes.map(({ event }) => write(service, { ...event, reason: 'again' })));
  expect(again.map(({ status }) => status)).to.deep.equal(again.map(() => 202));
  const records = await readAllDecisions(service, agent);
  expect(records.map(({ event_id }) => event_id).sort()).to.deep.equal(writes.map(idOf).sort());
  // Only events that were not there before may have the second body.
  expect(
    records.filter(({ event_id, reason }) => reason === 'again' && stored.includes(event_id)),
  ).to.deep.equal([]);
}
