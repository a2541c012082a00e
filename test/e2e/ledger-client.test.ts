import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { captureLogger } from '../support/capture-logger.ts';
import { createServiceClock } from '../support/clock.ts';
import { decision, gatesWith } from '../support/emission.ts';
import { completenessOf, gapsOf } from '../support/ledger.ts';
import { readDecisions } from '../support/audit.ts';
import { NODE_ENVIRONMENT } from '../support/environment.ts';
import { eventually } from '../support/eventually.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { HOUR_MS } from '../../server/durations.ts';
import { listen } from '../support/listen.ts';

/** What happens to a request in transit: it passes, it is lost, or its answer is lost, so that the client sends it again. */
type Fate = 'pass' | 'lose' | 'lose the answer';

/** A proxy between the client and the service. `fateOf` may delay a request. */
async function startWay(service: TestService, fateOf: (sequence: string) => Promise<Fate> | Fate) {
  const server = createServer((req, res) => {
    void (async () => {
      const body = await text(req);
      const fate = await fateOf(String(req.headers['gate-sequence']));
      if (fate === 'lose') return req.socket.resetAndDestroy();
      const headers = Object.entries(req.headers).filter(([name]) =>
        /^(authorization|content-type|gate-)/.test(name),
      );
      const answer = await fetch(service.url + req.url, {
        method: 'POST',
        headers: headers as [string, string][],
        body,
      });
      const status = fate === 'pass' ? answer.status : 503;
      return res.writeHead(status, { 'Content-Type': 'application/json' }).end(await answer.text());
    })().catch(() => req.socket.destroy());
  });
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${await listen(server)}`, close };
}

describe('the client reports to the service what did not arrive', () => {
  const clock = createServiceClock();
  let service: TestService;
  before(async () => (service = await startTestService({ env: clock.env })));
  after(() => service.kill());

  it('137 of 10,000 events that it drops while nobody answers, whatever is sent twice', async function () {
    this.timeout(120_000);
    let release: () => void = () => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    let batches = 0;
    const way = await startWay(service, async () => {
      batches += 1;
      const fate = batches === 2 ? 'lose the answer' : 'pass';
      if (batches <= 32) await released;
      return fate;
    });
    const gates = gatesWith();
    const batch = { maxEvents: 100, maxPending: 200, maxWaitMs: 60_000 };
    const gate = gates.configure({
      apiKey: service.key,
      baseUrl: way.url,
      batch,
      logger: captureLogger(),
      timeoutMs: 30_000,
    });
    let emitted = 0;
    const emit = (count: number) => {
      for (let i = 0; i < count; i += 1) gate.emit(decision({ reason: String((emitted += 1)) }));
    };
    for (let i = 0; i < 32; i += 1) {
      emit(100);
      await nextTurn();
      await nextTurn();
    }
    emit(200);
    expect(gate.stats()).to.deep.equal({ sent: 0, failed: 0, dropped: 0, in_flight: 3400 });
    emit(137);
    release();
    await gates.flush();
    while (emitted < 10_000) {
      emit(Math.min(200, 10_000 - emitted));
      await gates.flush();
    }
    await gates.shutdown();
    way.close();

    expect(gate.stats()).to.deep.equal({ sent: 9863, failed: 0, dropped: 137, in_flight: 0 });
    expect(await completenessOf(service)).to.deep.equal({
      emitters: 1,
      unclosed: 0,
      emitted: 10_000,
      received: 9863,
      dropped: 137,
      missing: 0,
      percent: 98.63,
    });
    const gaps = await gapsOf(service);
    expect(
      gaps.map(({ from_sequence, to_sequence, dropped }) => [from_sequence, to_sequence, dropped]),
    ).to.deep.equal([[3401, 3537, 137]]);
    expect(gaps[0]).to.include({ agent_name: 'support-bot', stream: 'decisions', missing: 0 });
    // It closed, so silence means nothing.
    clock.passMs(HOUR_MS + 1000);
    expect(await completenessOf(service)).to.include({ dropped: 137, missing: 0, unclosed: 0 });
  });

  it('a killed agent has missing events, none dropped, and after an hour of silence it is unclosed', async () => {
    const before = await completenessOf(service);
    let waiting = false;
    const way = await startWay(service, (sequence) => {
      if (sequence === '2') return 'lose';
      if (sequence !== '5') return 'pass';
      waiting = true;
      return new Promise(() => undefined);
    });
    const program = `
      import { configure } from ${JSON.stringify(new URL('../../client/index.ts', import.meta.url).href)};
      const gate = configure({ apiKey: process.env.KEY, baseUrl: process.env.URL });
      for (let i = 0; i < 6; i += 1) gate.emit({ agent_name: 'killed', tool_name: 't', outcome: 'allow' });
      setInterval(() => undefined, 1000);`;
    const agent = spawn(process.execPath, ['--input-type=module', '-e', program], {
      env: { ...NODE_ENVIRONMENT, KEY: service.key, URL: way.url },
      stdio: 'ignore',
    });
    const stored = async () => (await readDecisions(service, { agent: 'killed' })).total;
    await eventually(async () => waiting && (await stored()) === 4).finally(() => agent.kill('SIGKILL'));
    if (agent.exitCode === null && agent.signalCode === null) await once(agent, 'exit');
    way.close();

    const expected = {
      emitters: before.emitters + 1,
      emitted: before.emitted + 6,
      received: before.received + 4,
      dropped: before.dropped,
      missing: 2,
    };
    expect(await completenessOf(service)).to.include({ ...expected, unclosed: 0 });
    clock.passMs(HOUR_MS + 1000);
    expect(await completenessOf(service)).to.include({ ...expected, unclosed: 1 });
    const gaps = (await gapsOf(service)).filter(({ agent_name }) => agent_name === 'killed');
    expect(
      gaps.map(({ from_sequence, dropped, missing }) => [from_sequence, dropped, missing]),
    ).to.have.deep.members([
      [5, 0, 1],
      [2, 0, 1],
    ]);
  });
});
