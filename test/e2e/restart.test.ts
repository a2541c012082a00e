import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import { readFileSync, rmSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { call, jsonOf, demoCookie } from '../support/accounts.ts';
import {
  accepted,
  outcomeOf,
  readAllDecisions,
  sendDecision,
  sendLlm,
  tally,
  timeFromNow,
  NO_USAGE,
} from '../support/audit.ts';
import { decisionEvent, llmInvocation } from '../support/events.ts';
import { runOnStore } from '../support/engine.ts';
import { runCommand, runGate } from '../support/processes.ts';
import {
  type Demo,
  PRELOAD,
  spawnService,
  startTestService,
  storeDirectory,
  type TestService,
} from '../support/service.ts';
import { everythingOf, otherVersionsOf } from '../support/snapshot.ts';
import { DAY_MS } from '../../server/durations.ts';
import { issue, keySetOf } from '../support/keys.ts';
import { eventually } from '../support/eventually.ts';

/** Another project of the demo account, with a key. */
async function newProject(service: TestService): Promise<{ id: string; key: string }> {
  const cookie = await demoCookie(service);
  const { id } = await jsonOf<{ id: string }>(
    call(service, '/v1/projects', { cookie, body: { name: 'other' } }),
  );
  const { key } = await issue(service, { cookie, project: { id, name: '' } });
  return { id, key };
}

describe('across a restart', () => {
  for (const end of ['stop', 'kill'] as const) {
    it(`(${end}) the first write of an event_id still wins in every endpoint, and keys stay valid`, async () => {
      const dataDir = await storeDirectory();
      const first = await startTestService({ dataDir });
      const events = [0, 1, 40, 89].map((days) =>
        decisionEvent({ agent_name: `agent-${days}`, occurred_at: timeFromNow(-days * DAY_MS) }),
      );
      for (const event of events) await sendDecision(first, event);
      const reports = [0, 89].map((days) => llmInvocation({ occurred_at: timeFromNow(-days * DAY_MS) }));
      for (const report of reports) await sendLlm(first, report);
      const other = await newProject(first);
      // The same ids in another project are other records.
      const theirs = events.map((event) => ({ ...event, agent_name: 'theirs', outcome: 'deny' }));
      for (const event of theirs) await sendDecision(first, event, { key: other.key });
      const everything = async (service: TestService) => [
        await everythingOf(service, first.project_id),
        await everythingOf(service, other.id),
      ];
      const before = await everything(first);
      const keys = await keySetOf(first);
      await first[end]();

      const second = await startTestService({ dataDir });
      expect([second.demo, await keySetOf(second)]).to.deep.equal([first.demo, keys]);
      expect(await everything(second)).to.deep.equal(before);
      for (const event of events) {
        const upper = { ...event, event_id: String(event['event_id']).toUpperCase() };
        const variants = [event, upper, ...otherVersionsOf(event)];
        const again = variants.flatMap((body) => [
          sendDecision(second, body),
          sendDecision(second, body, { key: other.key }),
        ]);
        expect(tally(await Promise.all(again))).to.deep.equal({ '202': again.length });
      }
      const reposts = reports.map((report) =>
        sendLlm(second, { ...report, model: 'other', input_tokens: 7 }),
      );
      expect(tally(await Promise.all(reposts))).to.deep.equal({ '202': reposts.length });
      expect(await everything(second)).to.deep.equal(before);
      const fresh = await outcomeOf(await sendDecision(second, decisionEvent({ event_id: randomUUID() })));
      const after = await everythingOf(second, second.project_id);
      await second.stop();

      expect(
        before.map(({ totals, exported, buckets, usage }) => [
          totals.total,
          exported.length,
          buckets.length,
          usage.totals,
        ]),
      ).to.deep.equal([
        [4, 4, 4, { ...NO_USAGE, calls: 2, input_tokens: 200, output_tokens: 40 }],
        [4, 4, 4, NO_USAGE],
      ]);
      expect([fresh, after.totals.total]).to.deep.equal([accepted, 5]);
    });
  }
});

describe('a start on a store with 100,000 bearer keys', function () {
  // A slow machine writes 100 MB of them.
  this.timeout(120_000);

  it('accepts records, and lists 7,000 keys of one project', async () => {
    const dataDir = await storeDirectory();
    await runOnStore(
      dataDir,
      `INSERT INTO api_keys (key_id, project_id, scope, agents, created_by, created_at, updated_at)
       SELECT toString(generateUUIDv4()), if(number < 6999, project_id, 'other'), 'emit_audit',
         if(number < 6999, [], arrayMap(n -> repeat('a', 100), range(10))), created_by, now64(3), now64(3)
       FROM numbers(99999) AS numbers, (SELECT project_id, created_by FROM api_keys LIMIT 1) AS held`,
    );

    const service = await startTestService({ dataDir });
    await eventually(async () => (await sendDecision(service, decisionEvent())).status === 202);
    const path = `/v1/projects/${service.project_id}/keys`;
    const { items } = await jsonOf<{ items: object[] }>(
      call(service, path, { cookie: await demoCookie(service) }),
    );
    await service.stop();

    expect(items).to.have.lengthOf(7000);
  });
});

describe('a day that is dropped as docs/operations.md says', () => {
  it('is gone after the next start, and no other', async () => {
    const dataDir = await storeDirectory();
    const first = await startTestService({ dataDir });
    const [old, kept] = [40, 1].map((days) =>
      decisionEvent({ agent_name: 'dropped', occurred_at: timeFromNow(-days * DAY_MS) }),
    );
    for (const event of [old, kept]) await sendDecision(first, event);
    await first.stop();
    const documented = readFileSync('docs/operations.md', 'utf8');
    const command = /^npx (node -e .*DROP PARTITION.*)$/m.exec(documented)?.[1] ?? '';
    const day = String(old?.['occurred_at']).slice(0, 10);

    const { code } = await runCommand('sh', [
      '-c',
      command.replace('.data', dataDir).replace(/\d{4}-\d\d-\d\d/, day),
    ]);
    const second = await startTestService({ dataDir });
    const records = await readAllDecisions(second, 'dropped');
    await second.stop();

    expect(code).to.equal(0);
    expect(records.map(({ event_id }) => event_id)).to.deep.equal([kept?.['event_id']]);
  });
});

/** For a process whose disk has no free space. */
const ON_FULL_DISK = {
  NODE_OPTIONS: `${PRELOAD} --import=${new URL('../support/full-disk.ts', import.meta.url).href}`,
};

describe('a start that migrates', () => {
  let dataDir: string;
  beforeEach('a store of the first version', async () => {
    dataDir = await storeDirectory();
    await runOnStore(dataDir, 'TRUNCATE TABLE schema_migrations');
    await runOnStore(dataDir, "INSERT INTO schema_migrations (version, name) VALUES (1, '0001_events')");
  });
  const start = (env = {}) => runGate({ dataDir, args: ['project', 'list'], env });

  it('continues at once what another one began that was killed', async () => {
    await runOnStore(dataDir, 'CREATE TABLE migration_lock (x UInt8) ENGINE = Memory');

    const { code, stderr } = await start();

    expect(code).to.equal(0);
    expect(stderr).to.match(/^Migrating the schema from version 1 to \d+\n$/);
  });

  it('changes nothing on a full disk, and says how much space it needs', async () => {
    const { code, stderr } = await start(ON_FULL_DISK);

    expect(code).to.equal(1);
    expect(stderr).to.match(/^The disk of .+ has 0 MB free, and a change of the schema needs 16\. /);
    expect((await start()).stderr).to.match(/^Migrating the schema from version 1 to \d+\n$/);
    expect((await start(ON_FULL_DISK)).code, 'without a migration').to.equal(0);
  });
});

describe('a start with a demo', () => {
  for (const [readAuth, env] of [
    ['open', { GATE_DEMO: '1' }],
    ['required', { GATE_READ_AUTH: 'required' }],
  ] as const) {
    it(`prints two curl commands that work: one records a decision, one reads the summary (${readAuth})`, async () => {
      const service = await startTestService({ env });
      const commands = service.output().matchAll(/^curl [\s\S]*?(?:"|')$/gm);

      const answers = [];
      for (const [command] of commands) answers.push((await runCommand('sh', ['-c', command])).stdout);
      await service.stop();

      expect(service.output()).to.contain(service.demo.dashboard?.password);
      expect(answers).to.have.length(2);
      const [recorded, summary] = answers.map((text) => JSON.parse(text) as Record<string, unknown>);
      expect(recorded).to.have.all.keys('event_id');
      expect(summary).to.deep.include({ totals: { total: 1, allow: 1, deny: 0, needs_approval: 0 } });
    });
  }

  it('creates a new demo on an empty store and replaces an old demo.json', async () => {
    const dataDir = await storeDirectory();
    const old = JSON.parse(readFileSync(join(dataDir, 'demo.json'), 'utf8')) as Demo;
    rmSync(join(dataDir, 'clickhouse'), { recursive: true });

    const service = await startTestService({ dataDir });
    const recorded = await outcomeOf(await sendDecision(service, decisionEvent()));
    await service.stop();

    expect(service.project_id).not.to.equal(old.project_id);
    expect(recorded).to.deep.equal(accepted);
    expect(service.output()).not.to.contain(old.key);
  });

  for (const [name, damage] of [
    [
      'an earlier one was interrupted after its account',
      async (dataDir: string) => {
        rmSync(join(dataDir, 'demo.json'));
        await runOnStore(dataDir, 'TRUNCATE TABLE projects');
      },
    ],
    ['demo.json is cut short', (dataDir: string) => truncateSync(join(dataDir, 'demo.json'), 20)],
  ] as const)
    it(`starts without a demo, and says so, when ${name}`, async () => {
      const dataDir = await storeDirectory();
      await damage(dataDir);

      const child = spawnService({ dataDir, env: {} });
      let output = '';
      child.stdout?.on('data', (chunk: Buffer) => (output += chunk.toString()));
      await eventually(() => output.includes('Gatehouse is listening') || child.exitCode !== null);
      child.kill();

      expect(output).to.contain('Gatehouse is listening').and.contain('There is no demo');
    });
});
