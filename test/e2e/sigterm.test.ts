import { expect } from 'chai';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { tally } from '../support/audit.ts';
import { runOnStore } from '../support/engine.ts';
import { decisionEvent } from '../support/events.ts';
import { eventually } from '../support/eventually.ts';
import { acknowledged, startLoad } from '../support/load.ts';
import { listen } from '../support/listen.ts';
import { head, openRaw, type RawConnection } from '../support/raw-http.ts';
import {
  spawnService,
  startTestService,
  storeDirectory,
  temporaryDirectory,
  type TestService,
} from '../support/service.ts';

const STOP_MS_MAX = 10_000;
/** A request sent this long after the signal met a service that was still finishing. */
const ON_THEIR_WAY_MS = 100;

/** SIGTERM, the exit code, and how long it took. */
async function stopTimed(service: TestService): Promise<{ code: number | null; ms: number }> {
  const startMs = performance.now();
  const code = await service.stop();
  return { code, ms: performance.now() - startMs };
}

/** A whole request as it goes over the wire. */
function requestOf({ demo }: TestService, event: Record<string, unknown>): string {
  const body = JSON.stringify(event);
  const headers = {
    Authorization: `Bearer ${demo.key}`,
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(body),
  };
  return head('/v1/audit/decisions', headers) + body;
}

/** The status of the answer, or how the connection ended without one. */
async function statusOf(connection: RawConnection): Promise<number | string> {
  return connection.answer().then(
    ({ status }) => status,
    (error: Error) => error.message,
  );
}

describe('SIGTERM', () => {
  it('under load: answers every request, stores what got 202 once, and exits with 0 within 10 s', async () => {
    const service = await startTestService();
    const load = startLoad(service, { connections: 32, agent: 'load' });
    await eventually(() => acknowledged(load.sent).length > 100);

    const stopMs = performance.now();
    const { code, ms } = await stopTimed(service);
    await load.ended;

    expect(code).to.equal(0);
    expect(ms).to.be.below(STOP_MS_MAX);
    // A request on a connection that has been idle for long may be too late, but one that was already on its way must not be.
    const onTheirWay = load.sent.filter(({ sentMs }) => sentMs < stopMs + ON_THEIR_WAY_MS);
    const unanswered = onTheirWay.filter(
      ({ status, error }) => status === undefined && error !== 'ECONNREFUSED',
    );
    expect(unanswered.map(({ error }) => error)).to.deep.equal([]);
    const answers = load.sent.filter(({ status }) => status !== undefined);
    expect(answers.filter(({ status }) => status !== 202 && status !== 503)).to.deep.equal([]);
    const rows = await runOnStore<{ event_id: string }>(
      service.dataDir,
      "SELECT event_id FROM decisions WHERE agent_name = 'load'",
    );
    const stored = rows.map(({ event_id }) => event_id);
    expect(stored.length).to.equal(new Set(stored).size);
    expect(acknowledged(load.sent).filter((id) => !stored.includes(id))).to.deep.equal([]);
  });

  it('with requests just sent, some on connections not yet accepted: answers and logs each of them', async () => {
    const service = await startTestService();
    const open = (count: number) => Promise.all(Array.from({ length: count }, () => openRaw(service.url)));
    const connections = await open(100);
    await sleep(50);
    process.kill(service.pid, 'SIGSTOP');
    connections.push(...(await open(200)));
    await Promise.all(connections.map((connection) => connection.write(requestOf(service, decisionEvent()))));

    const stopped = stopTimed(service);
    process.kill(service.pid, 'SIGCONT');
    const answers = await Promise.all(connections.map((connection) => connection.answer()));

    expect((await stopped).code).to.equal(0);
    expect(tally(answers)).to.deep.equal({ '202': 300 });
    const lines = service.output().split('\n');
    expect(lines.filter((line) => line.includes('"url":"/v1/audit/decisions"')).length).to.equal(300);
  });

  it('with requests half sent: answers those that arrive, and the others with 503', async () => {
    const service = await startTestService();
    const request = requestOf(service, decisionEvent());
    const cuts = {
      'in the head': 40,
      'after the head': request.indexOf('\r\n\r\n') + 4,
      'in the body': request.length - 10,
    };
    const halfSent = Object.entries(cuts).map(async ([where, cut]) => {
      const [finishing, leaving] = [await openRaw(service.url), await openRaw(service.url)];
      await Promise.all([finishing.write(request.slice(0, cut)), leaving.write(request.slice(0, cut))]);
      return { where, rest: request.slice(cut), finishing, leaving };
    });
    const requests = await Promise.all(halfSent);
    await sleep(100);

    const stopped = stopTimed(service);
    await sleep(500);
    await Promise.all(requests.map(({ rest, finishing }) => finishing.write(rest)));
    const answers = requests.map(async ({ where, finishing, leaving }) => {
      return [where, await statusOf(finishing), await statusOf(leaving)];
    });

    expect(await Promise.all(answers)).to.deep.equal(requests.map(({ where }) => [where, 202, 503]));
    const { code, ms } = await stopped;
    expect([code, ms < STOP_MS_MAX]).to.deep.equal([0, true]);
  });

  it('with idle connections only, and twice: ends at once', async () => {
    const service = await startTestService();
    const idle = await openRaw(service.url);
    await idle.write(head('/healthz', {}, 'GET'));
    await idle.answer();

    const [{ code, ms }, second] = await Promise.all([stopTimed(service), service.stop()]);

    expect([code, second]).to.deep.equal([0, 0]);
    // An unfinished answer would have 8 s.
    expect(ms).to.be.below(8000);
    const refused = await fetch(service.url).then(
      () => false,
      () => true,
    );
    expect(refused).to.equal(true);
  });

  it('while the service starts: exits with 0', async () => {
    const child = spawnService({ dataDir: await storeDirectory(), env: {} });
    child.stdout?.once('data', () => child.kill('SIGTERM'));

    expect(await once(child, 'exit')).to.deep.equal([0, null]);
  });

  it('while the service waits for its ClickHouse server: exits with 0', async () => {
    const silent = createServer().unref();
    const env = { GATE_CLICKHOUSE_URL: `http://127.0.0.1:${await listen(silent)}` };
    const child = spawnService({ dataDir: temporaryDirectory(), env });
    silent.once('connection', () => child.kill('SIGTERM'));

    expect(await once(child, 'exit')).to.deep.equal([0, null]);
    silent.close();
  });
});
