import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { EXPORTS_OF_PROJECT_MAX, READS_RUNNING_MAX } from '../../server/limits.ts';
import { runOnStore } from '../support/engine.ts';
import { eventually } from '../support/eventually.ts';
import { ask, askJson } from '../support/reads.ts';
import { rssMb } from '../support/rss.ts';
import { startTestService, storeDirectory, type TestService, WITHOUT_LOG } from '../support/service.ts';

/** Of 1 KB each. */
const ROWS = 100_000;
const GROWTH_MB_MAX = 130;
const UNREAD = 100;
const BYTES_BEFORE_LEAVING = 20_000_000;
/** An export that is refused or not, without the time that its records take. */
const A_MOMENT = { query: { from: '2020-01-01T00:00:00Z', to: '2020-01-01T00:01:00Z' } };
const RESTING_S_MAX = 0.2;
/** Clock ticks of /proc/<pid>/stat, 100 a second on every Linux that Node runs on. */
const TICKS_PER_SECOND = 100;

function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

describe('the export of many records', () => {
  let service: TestService;
  let total: number;
  before(async () => {
    const dataDir = await storeDirectory();
    // In many parts, as ingest leaves them.
    await runOnStore(
      dataDir,
      `INSERT INTO decisions (project_id, event_id, occurred_at, received_at, agent_name, tool_name, outcome, arguments, version)
       SELECT project_id, generateUUIDv4(number), now64(3, 'UTC') - toIntervalSecond(number) AS at, at, concat('agent-', toString(number % 5)),
         'search', if(number % 7 = 0, 'deny', 'allow'), concat('{"query":"', repeat(hex(cityHash64(number)), 40), '"}'), number
       FROM numbers(${ROWS}) AS numbers, (SELECT project_id FROM api_keys LIMIT 1) AS keys
       SETTINGS max_block_size = 5000, min_insert_block_size_rows = 1, min_insert_block_size_bytes = 1`,
    );
    // The memory of the log is not measured.
    service = await startTestService({ dataDir, env: WITHOUT_LOG });
    total = (await askJson<{ totals: { total: number } }>(service, 'summary', { query: { window: '7d' } }))
      .totals.total;
  });
  after(() => service.stop());

  const path = () => `${service.url}/v1/projects/${service.project_id}/audit/decisions/export?window=7d`;

  it('holds every record once, newest first, in constant memory', async function () {
    // On a busy machine of half the speed; 12 to 25 s alone.
    this.timeout(180_000);
    // As for a service in use: the engine keeps some memory for each of its threads after their first statement.
    const used = { query: { window: '7d', limit: '500' } };
    for (let round = 0; round < 4; round += 1)
      await Promise.all(Array.from({ length: 8 }, () => ask(service, 'decisions', used)));
    const beforeMb = rssMb(service.pid);
    const response = await fetch(path());
    let [lines, rest, last, peakMb, isSorted] = [0, '', '9999', 0, true];
    for await (const chunk of response.body ?? []) {
      const texts = (rest + Buffer.from(chunk).toString('latin1')).split('\n');
      rest = texts.pop() ?? '';
      lines += texts.length;
      for (const text of texts) {
        const at = /"occurred_at":"([^"]+)"/.exec(text)?.[1] ?? '?';
        isSorted &&= at <= last;
        last = at;
      }
      peakMb = Math.max(peakMb, rssMb(service.pid));
    }

    expect([lines, rest, isSorted]).to.deep.equal([total, '', true]);
    expect(total).to.equal(ROWS);
    expect(peakMb - beforeMb).to.be.below(GROWTH_MB_MAX);
  });

  it('stops when its caller disconnects', async () => {
    const gone = new AbortController();
    const response = await fetch(path(), { signal: gone.signal });
    const startS = cpuSeconds(service.pid);
    let bytes = 0;
    for await (const chunk of response.body ?? []) {
      bytes += chunk.length;
      if (bytes > BYTES_BEFORE_LEAVING) break;
    }
    // It was working, not stalled: otherwise, that it is idle afterwards would prove nothing.
    const busyS = cpuSeconds(service.pid) - startS;
    gone.abort();

    const restedS = await eventually(async () => {
      const fromS = cpuSeconds(service.pid);
      await sleep(1000);
      const usedS = cpuSeconds(service.pid) - fromS;
      return usedS < RESTING_S_MAX ? usedS : undefined;
    });

    expect(bytes).to.be.above(BYTES_BEFORE_LEAVING);
    expect(busyS).to.be.above(2 * restedS);
    expect((await ask(service, 'summary')).status).to.equal(200);
  });

  it('is sent to a bounded number of callers who do not read it, in bounded memory', async () => {
    const gone = new AbortController();
    const beforeMb = rssMb(service.pid);
    const unread = Array.from(
      { length: UNREAD },
      async () => (await fetch(path(), { signal: gone.signal })).status,
    );
    const statuses = await Promise.all(unread);
    const other = await fetch(path().replace(service.project_id, randomUUID()));
    const grownMb = rssMb(service.pid) - beforeMb;
    gone.abort();

    const count = (wanted: number) => statuses.filter((status) => status === wanted).length;
    expect([count(200), count(503)]).to.deep.equal([EXPORTS_OF_PROJECT_MAX, UNREAD - EXPORTS_OF_PROJECT_MAX]);
    expect([other.status, await other.text()]).to.deep.equal([200, '']);
    expect(grownMb).to.be.below(GROWTH_MB_MAX);
    await eventually(async () => {
      const all = Array.from({ length: EXPORTS_OF_PROJECT_MAX }, () =>
        ask(service, 'decisions/export', A_MOMENT),
      );
      return (await Promise.all(all)).every(({ status }) => status === 200);
    });
  });

  it('waits for slow callers, more than may read at once, without blocking other reads', async () => {
    const gone = new AbortController();
    const slow = Array.from({ length: 2 + READS_RUNNING_MAX }, async () => {
      const response = await fetch(path(), { signal: gone.signal });
      const first = await response.body?.getReader().read();
      return [response.status, (first?.value?.length ?? 0) > 0];
    });
    expect(await Promise.all(slow)).to.deep.equal(slow.map(() => [200, true]));

    const answers = await Promise.all(Array.from({ length: 8 }, () => ask(service, 'summary')));

    // In a queue after exports that keep their places, they would be refused after 4.5 s.
    expect(answers.map(({ status }) => status)).to.deep.equal(Array.from({ length: 8 }, () => 200));
    gone.abort();
  });
});
