import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import type { RecordProof } from '../../client/proof/index.ts';
import { auditVerify } from '../../server/cli/audit/commands.ts';
import { SMALL_TABLES } from '../../server/cli/transfer.ts';
import { call, jsonOf, logIn, newPerson, PASSWORD, type Person } from '../support/accounts.ts';
import { fetchAgent } from '../support/agents.ts';
import { outcomeOf, sendDecision, sendLlm, tally, timeFromNow } from '../support/audit.ts';
import { batchOutcome, sendBatch } from '../support/batch.ts';
import { createServiceClock } from '../support/clock.ts';
import { onServer } from '../support/clickhouse-server/services.ts';
import { type ClickHouseServer, startClickHouse } from '../support/clickhouse-server/start.ts';
import { NODE_ENVIRONMENT } from '../support/environment.ts';
import { decisionEvent, llmInvocation } from '../support/events.ts';
import { gate, gateFault } from '../support/gate.ts';
import { freePort } from '../support/listen.ts';
import { checkpointFrom, logKey, proofOf } from '../support/log.ts';
import {
  CLIENT,
  CookieJar,
  signOnAt,
  startOidcProvider,
  type TestProvider,
} from '../support/oidc-provider.ts';
import { runGate } from '../support/processes.ts';
import {
  ROOT,
  scriptOf,
  startTestService,
  storeDirectory,
  temporaryDirectory,
  type TestService,
  WITHOUT_LOG,
} from '../support/service.ts';
import { everythingOf, type Everything } from '../support/snapshot.ts';
import { expectWholeLog, readWholeLog } from '../support/whole-log.ts';
import { DAY_MS } from '../../server/durations.ts';

type Exported = { files: number; written_now: number };
type Imported = { imported: number; skipped: number; log_entries: number };

/** More than a tile of the log has. */
const EVENTS = 300;
const BATCH = 30;

/** Runs the command line, and ends it with SIGKILL after this many lines of progress. */
async function killAfter(lines: number, args: string[], env: Record<string, string>): Promise<void> {
  const child = spawn(process.execPath, [scriptOf('cli/main'), ...args], {
    cwd: ROOT,
    env: { ...NODE_ENVIRONMENT, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let progress = '';
  child.stderr.on('data', (chunk: Buffer) => {
    progress += chunk.toString();
    if (progress.split('\n').length > lines) child.kill('SIGKILL');
  });
  await once(child, 'close');
}

describe('gate export and gate import, from the embedded store to a server', () => {
  const directory = `${temporaryDirectory()}/export`;
  let dataDir: string;
  let inEmbedded: { GATE_DATA_DIR: string };
  let server: ClickHouseServer;
  let imported: TestService;
  let before_: Everything;
  let person: Person;
  let late: Person;
  let demo: TestService['demo'];
  const events: Record<string, unknown>[] = [];
  const states = temporaryDirectory();
  let firstProof: RecordProof;
  let key: string;
  let provider: TestProvider;
  let base: string;
  let subject: string;
  before(async () => {
    base = `http://localhost:${await freePort()}`;
    provider = await startOidcProvider(`${base}/v1/auth/oidc/callback`);
    // Half of the events are received by a clock that is then set back: only the log knows in which order they arrived.
    const clock = createServiceClock();
    clock.passMs(60_000);
    dataDir = await storeDirectory();
    inEmbedded = { GATE_DATA_DIR: dataDir };
    const embedded = await startTestService({ dataDir, env: clock.env });
    demo = embedded.demo;
    person = await newPerson(embedded);
    for (let i = 0; i < EVENTS; i += 1) {
      const occurred_at = timeFromNow(-(i % 5) * DAY_MS);
      events.push(decisionEvent({ occurred_at, arguments: { n: i, text: `it's "${i}"\n` }, reason: 'a\tb' }));
    }
    const send = async (from: number) => {
      const batches = Array.from({ length: EVENTS / 2 / BATCH }, (_, i) =>
        sendBatch(embedded, events.slice(from + i * BATCH, from + (i + 1) * BATCH)),
      );
      for (const outcome of await Promise.all(batches.map(batchOutcome)))
        expect(outcome).to.include({ status: 202, accepted: BATCH });
    };
    await send(0);
    await checkpointFrom(embedded, EVENTS / 2);
    clock.passMs(-60_000);
    await send(EVENTS / 2);
    await sendLlm(embedded, llmInvocation({ cost_usd: 0.1 }));
    before_ = await everythingOf(embedded, demo.project_id);
    await checkpointFrom(embedded, EVENTS);
    firstProof = await proofOf(embedded, idOf(0));
    key = JSON.stringify(await logKey(embedded));
    await expectHolds(embedded, 'old.json');
    await embedded.stop();
    server = await startClickHouse();
  });
  after(async () => {
    await server.kill();
    await provider.stop();
  });

  const singleSignOn = () => ({
    GATE_PORT: new URL(base).port,
    GATE_DASHBOARD_URL: base,
    GATE_OIDC_ISSUER: provider.issuer,
    GATE_OIDC_CLIENT_ID: CLIENT.client_id,
    GATE_OIDC_CLIENT_SECRET: CLIENT.client_secret,
  });
  /** The account of a person whom the provider identifies only by subject. */
  async function signOn(): Promise<string> {
    const jar = new CookieJar();
    const start = await jar.fetch(new URL(`${base}/v1/auth/oidc/start`));
    const location = new URL(start.headers.get('location') ?? 'no://location');
    await jar.fetch(await signOnAt(jar, location, 'someone', `${base}/v1/auth/oidc/callback`));
    return (await jsonOf<{ id: string }>(jar.fetch(new URL(`${base}/v1/auth/me`)))).id;
  }
  const idOf = (at: number) => String(events.at(at)?.['event_id']);

  /** An auditor who kept this state of the log sees nothing lost, added or rewritten. */
  async function expectHolds({ url }: TestService, state: string): Promise<void> {
    const options = { url, bearer: demo.key, state: `${states}/${state}` };
    const { exitCode, text } = await auditVerify(demo.project_id, options);
    expect(exitCode, text).to.equal(0);
  }

  const exported = () => gate<Exported>(inEmbedded, 'export', '--to', directory);
  const imports = (env: Record<string, string>) => gate<Imported>(env, 'import', '--from', directory);
  const inServer = () => onServer(server, { GATE_DATA_DIR: dataDir });

  it('continue an interrupted export', async () => {
    await killAfter(3, ['export', '--to', directory], inEmbedded);
    const whole = await exported();
    // As after a kill while a file was written: under its temporary name and not in the manifest.
    const path = `${directory}/manifest.json`;
    const manifest = JSON.parse(readFileSync(path, 'utf8')) as {
      complete: boolean;
      files: { name: string }[];
    };
    const isComplete = manifest.complete;
    const [last] = manifest.files.splice(-1);
    writeFileSync(path, JSON.stringify({ ...manifest, complete: false }));
    renameSync(`${directory}/${last?.name}`, `${directory}/.part-${last?.name}`);

    const early = await gateFault(inServer(), 'import', '--from', directory);
    const rest = await exported();

    expect(isComplete).to.equal(true);
    expect(early.message).to.equal(
      `The export in ${directory} was interrupted. Run "export" again with the same --to: it writes what is missing.`,
    );
    expect([rest.files, rest.written_now]).to.deep.equal([whole.files, SMALL_TABLES.length + 1]);
    expect(existsSync(`${directory}/${last?.name}`)).to.equal(true);
  });

  it('write files again that are missing or truncated, and import nothing until then', async () => {
    const { files } = JSON.parse(readFileSync(`${directory}/manifest.json`, 'utf8')) as {
      files: { name: string; day?: string }[];
    };
    const [missing = '', truncated = ''] = files
      .filter(({ day }) => day !== undefined)
      .map(({ name }) => name);
    rmSync(`${directory}/${missing}`);
    const first = await gateFault(inServer(), 'import', '--from', directory);
    truncateSync(`${directory}/${truncated}`, 20);
    const again = await exported();

    expect(first.message).to.equal(
      `The export in ${directory} has no whole file ${missing}. Run "export" again with the same --to: it writes what is missing.`,
    );
    expect(await server.query('SELECT 1 FROM projects')).to.deep.equal([]);
    expect(again.written_now).to.equal(SMALL_TABLES.length + 2);
  });

  it('export only what changed when run again: small tables and days with new events', async () => {
    // It ends before it logs what it acknowledged.
    const embedded = await startTestService({ dataDir, env: { ...WITHOUT_LOG, ...singleSignOn() } });
    late = await newPerson(embedded);
    subject = await signOn();
    events.push(decisionEvent({ occurred_at: timeFromNow(-2 * DAY_MS), arguments: { late: true } }));
    expect((await sendDecision(embedded, events.at(-1))).status).to.equal(202);
    before_ = await everythingOf(embedded, demo.project_id);
    await embedded.stop();

    expect((await exported()).written_now).to.equal(SMALL_TABLES.length + 1);
  });

  it('continue an interrupted import; a further import adds nothing', async () => {
    await killAfter(12, ['import', '--from', directory], inServer());
    const rest = await imports(inServer());
    const again = await imports(inServer());

    expect(rest.skipped).to.be.above(0);
    expect([again.imported, again.log_entries]).to.deep.equal([0, 0]);
    const [row] = await server.query<{ n: string }>('SELECT count() AS n FROM decisions');
    expect(Number(row?.n)).to.equal(events.length);
  });

  it('give a service that answers as before: reads, keys, agents, accounts, sessions and identities', async () => {
    imported = await startTestService({ dataDir, env: onServer(server, singleSignOn()) });
    const again = events.slice(0, 50).map(async (event) => {
      const body = { ...event, outcome: 'deny', occurred_at: timeFromNow(0), reason: 'again' };
      return outcomeOf(await sendDecision(imported, body, { key: demo.key }));
    });

    expect(tally(await Promise.all(again))).to.deep.equal({ '202': 50 });
    expect(await everythingOf(imported, demo.project_id)).to.deep.equal(before_);
    expect((await fetchAgent(imported, demo.agent_name, { key: demo.key })).status).to.equal(200);
    expect((await logIn(imported, person.email, PASSWORD)).status).to.equal(200);
    expect((await logIn(imported, late.email, PASSWORD)).status).to.equal(200);
    expect((await call(imported, '/v1/auth/me', { cookie: person.cookie })).status).to.equal(200);
    expect(await signOn()).to.equal(subject);
  });

  it('extend the log: a record that was not in it yet enters after the others, and none twice', async () => {
    copyFileSync(`${states}/old.json`, `${states}/embedded.json`);
    const late = await proofOf(imported, idOf(-1));
    const event = decisionEvent();
    await sendDecision(imported, event);
    const next = await proofOf(imported, String(event['event_id']));

    expect([late.index, next.index]).to.deep.equal([EVENTS, EVENTS + 1]);
    const { index, entry, salt, line } = await proofOf(imported, idOf(0));
    expect(firstProof).to.deep.include({ index, entry, salt, line });
    expect(JSON.stringify(await logKey(imported))).to.equal(key);
    await expectHolds(imported, 'old.json');
    await imported.stop();
    expectWholeLog(await readWholeLog((sql) => server.query(sql)));
  });

  it('refuse to fork the log when both stores continued, and import nothing', async () => {
    const embedded = await startTestService({ dataDir });
    await sendDecision(embedded, decisionEvent());
    await checkpointFrom(embedded, EVENTS + 2);
    await embedded.stop();
    const before = await server.query('SELECT count() FROM decisions');

    const { written_now } = await exported();
    const refused = await gateFault(inServer(), 'import', '--from', directory);

    // Besides a day the newest part of the log has changed.
    expect(written_now).to.equal(SMALL_TABLES.length + 2);
    expect(refused.message).to.equal(
      `The log of project ${demo.project_id} in this store differs from the exported one from index ${EVENTS + 1} on: ` +
        'both have grown since they were the same, and one log cannot have two histories.',
    );
    expect(await server.query('SELECT count() FROM decisions')).to.deep.equal(before);
  });

  it('extend the log on an embedded store as well', async () => {
    const other = temporaryDirectory();
    for (const name of ['log-key.pem', 'signing-key.pem'])
      copyFileSync(`${dataDir}/${name}`, `${other}/${name}`);

    const { log_entries } = await imports({ GATE_DATA_DIR: other });

    expect(log_entries).to.equal(EVENTS + 2);
    const service = await startTestService({ dataDir: other, env: { GATE_DEMO: '0' } });
    await expectHolds(service, 'embedded.json');
    await service.stop();
  });

  it('report why a transfer is impossible', async () => {
    await server.query('TRUNCATE TABLE log_keys');
    await server.query("INSERT INTO log_keys VALUES (now64(3), 'another')");
    const elsewhere = temporaryDirectory();
    const faultOf = async (env: Record<string, string>, ...args: string[]) =>
      (await gateFault(env, ...args)).message;
    const listAt = async (url: string) =>
      (await runGate({ dataDir: elsewhere, args: ['project', 'list'], env: { GATE_CLICKHOUSE_URL: url } }))
        .stderr;

    expect(await faultOf(inServer(), 'export', '--to', directory)).to.match(/embedded/);
    expect(await faultOf(inEmbedded, 'export', '--to', ROOT)).to.match(/not empty/);
    expect(await faultOf(inServer(), 'import', '--from', elsewhere)).to.match(/does not contain an export/);
    expect(await faultOf(inServer(), 'import')).to.match(/--from is missing/);
    expect(await faultOf(inServer(), 'import', '--from', directory)).to.match(/signed with the key another/);
    expect(await listAt(server.url.replace(/:[^:@]+@/, ':wrong@'))).to.match(
      /^The store refused\. .*Authentication failed/,
    );
    expect(await listAt(server.url.replace(/\w+$/, 'gatehuose'))).to.match(
      /^The store refused\. .*gatehuose/,
    );
    expect(
      await faultOf(
        onServer(server, { GATE_DATA_DIR: elsewhere }),
        'key',
        'issue',
        '--project',
        demo.project_id,
      ),
    ).to.match(/^There is no root key in /);
    expect(readdirSync(elsewhere)).to.deep.equal([]);
  });
});
