import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { readAllDecisions } from '../support/audit.ts';
import { recovery, RECOVERY_MS_MAX, write, type WriteProbe } from '../support/clickhouse-server/probes.ts';
import { decisionEvent } from '../support/events.ts';
import { readMetrics } from '../support/metrics.ts';
import { type TestService } from '../support/service.ts';
import { useServiceOnServer } from '../support/clickhouse-server/services.ts';

// A store that accepts 20 rows in each half second: 40 events a second, while ten times as many arrive.
const BATCH_ROWS = 20;
const INSERT_MS = 500;
/** Few enough for a machine on which an insert takes twice as long as this wait. */
const QUIET_PER_SECOND = 10;
const OFFERED_PER_SECOND = 400;
const SECONDS = 4;
const REFUSAL_SECONDS_MAX = '0.5';
const RSS_GROWTH_MB_MAX = 100;

const withStatus = (probes: WriteProbe[], wanted: number) => probes.filter(({ status }) => status === wanted);
const rssMb = ({ pid }: TestService) =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;

type Answered = { count: number; seconds: number; atOnce: number };

/** The events with this status so far, by the service's own clock, because the test is busy sending. */
async function answered(service: TestService, status: number): Promise<Answered> {
  const metrics = await readMetrics(service);
  const total = (suffix: string, le = '') =>
    metrics
      .named(`gate_http_request_duration_seconds_${suffix}`)
      .filter((name) => [`status="${status}"`, 'method="POST"', le].every((part) => name.includes(part)))
      .reduce((sum, name) => sum + metrics.value(name), 0);
  return {
    count: total('count'),
    seconds: total('sum'),
    atOnce: total('bucket', `le="${REFUSAL_SECONDS_MAX}"`),
  };
}

const meanSeconds = (after: Answered, before = { count: 0, seconds: 0 }) =>
  (after.seconds - before.seconds) / (after.count - before.count);

describe('overload: ten times what the store accepts', () => {
  const { server, service } = useServiceOnServer({ GATE_BATCH_ROWS_MAX: String(BATCH_ROWS) });
  before(async () => {
    await server.fail({ on: 'insert', table: 'INSERT INTO decisions', does: 'wait', ms: INSERT_MS });
  });

  /** Sends this many a second, regardless of earlier results. */
  async function offer(perSecond: number, agent_name: string): Promise<WriteProbe[]> {
    const offered: Promise<WriteProbe>[] = [];
    for (const startMs = performance.now(); performance.now() - startMs < SECONDS * 1000; await sleep(10)) {
      const due = ((performance.now() - startMs) / 1000) * perSecond;
      while (offered.length < due) offered.push(write(service, decisionEvent({ agent_name })));
    }
    return Promise.all(offered);
  }

  it('is refused at once, while accepted writes keep their latency and memory stays bounded', async () => {
    const quiet = await offer(QUIET_PER_SECOND, 'quiet');
    const before = rssMb(service);
    const calm = await answered(service, 202);

    const probes = await offer(OFFERED_PER_SECOND, 'crowd');
    const [crowded, turnedAway] = [await answered(service, 202), await answered(service, 503)];
    const recoveredMs = await recovery(service, 'over');

    const [accepted, refused] = [withStatus(probes, 202), withStatus(probes, 503)];
    const stored = await readAllDecisions(service, 'crowd');
    expect(accepted.length + refused.length).to.equal(probes.length);
    expect(
      refused.filter(({ code, retryAfter }) => code !== 'overloaded' || retryAfter !== '5'),
    ).to.deep.equal([]);
    expect(refused.length).to.be.above(probes.length / 2);
    expect(accepted.length).to.be.above((SECONDS * 1000 * BATCH_ROWS) / INSERT_MS / 3);
    expect(turnedAway.atOnce / turnedAway.count).to.be.at.least(0.99);
    expect(quiet.filter(({ status }) => status !== 202)).to.deep.equal([]);
    expect(meanSeconds(crowded, calm)).to.be.below(2 * meanSeconds(calm));
    expect(stored.map(({ event_id }) => event_id).sort()).to.deep.equal(
      accepted.map(({ event }) => String(event['event_id'])).sort(),
    );
    expect(rssMb(service) - before).to.be.below(RSS_GROWTH_MB_MAX);
    expect(recoveredMs).to.be.below(RECOVERY_MS_MAX);
  });
});
