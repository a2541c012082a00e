import { expect } from 'chai';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
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
import { createServiceClock } from '../support/clock.ts';
import { onServer } from '../support/clickhouse-server/services.ts';
import { type ClickHouseServer, startClickHouse } from '../support/clickhouse-server/start.ts';
import { decisionEvent, llmInvocation } from '../support/events.ts';
import { freePort } from '../support/listen.ts';
import { checkpointFrom, logKey, proofOf } from '../support/log.ts';
import {
  CLIENT,
  CookieJar,
  signOnAt,
  startOidcProvider,
  type TestProvider,
} from '../support/oidc-provider.ts';
import {
  scriptOf,
  startTestService,
  temporaryDirectory,
  type TestService,
  WITHOUT_LOG,
} from '../support/service.ts';
import { everythingOf, type Everything } from '../support/snapshot.ts';
import { expectWholeLog, readWholeLog } from '../support/whole-log.ts';
import { DAY_MS } from '../../server/durations.ts';

const ROOT = new URL('../../', import.meta.url).pathname;
const EVENTS = 400;
type Ran = { code: number | null; signal: string | null; result: Record<string, number>; progress: string[] };

/** Runs the command line as a user does. SIGKILL ends it after `linesMax` lines of progress. */
async function gate(args: string[], env: Record<string, string>, linesMax = Infinity): Promise<Ran> {
  const child: ChildProcess = spawn(process.execPath, [scriptOf('cli/main'), ...args, '--json'], {
    cwd: ROOT,
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [out, progress] = ['', ''];
  child.stdout?.on('data', (chunk: Buffer) => (out += chunk.toString()));
  child.stderr?.on('data', (chunk: Buffer) => {
    progress += chunk.toString();
    if (progress.split('\n').length > linesMax) child.kill('SIGKILL');
  });
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null];
  const result = out === '' ? {} : (JSON.parse(out) as Record<string, number>);
  return { code, signal, result, progress: progress.split('\n').filter(Boolean) };
}

describe('gate export and gate import, from the embedded store to a server', () => {
  const dataDir = temporaryDirectory();
  const directory = `${temporaryDirectory()}/export`;
  let server: ClickHouseServer;
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
    // Half of the events are received by a clock that is then set back: only the log knows in which order they came.
    const clock = createServiceClock();
    clock.passMs(60_000);
    const embedded = await startTestService({ dataDir, env: clock.env });
    demo = embedded.demo;
    person = await newPerson(embedded);
    for (let i = 0; i < EVENTS; i += 1) {
      const occurred_at = timeFromNow(-(i % 5) * DAY_MS);
      events.push(decisionEvent({ occurred_at, arguments: { n: i, text: `it's "${i}"\n` }, reason: 'a\tb' }));
    }
    const send = (some: typeof events) =>
      Promise.all(some.map(async (event) => outcomeOf(await sendDecision(embedded, event))));
    const answers = await send(events.slice(0, EVENTS / 2));
    await checkpointFrom(embedded, EVENTS / 2);
    clock.passMs(-60_000);
    answers.push(...(await send(events.slice(EVENTS / 2))));
    await sendLlm(embedded, llmInvocation({ cost_usd: 0.1 }));
    expect(tally(answers)).to.deep.equal({ '202': EVENTS });
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
  /** The account of a person whom the provider knows by subject alone. */
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

  const inEmbedded = { GATE_DATA_DIR: dataDir };
  const inServer = () => onServer(server, { GATE_DATA_DIR: dataDir });

  it('continue an interrupted export', async () => {
    await gate(['export', '--to', directory], inEmbedded, 3);
    const whole = await gate(['export', '--to', directory], inEmbedded);
    // As a kill during a file leaves it: under its temporary name and not in the manifest.
    const path = `${directory}/manifest.json`;
    const manifest = JSON.parse(readFileSync(path, 'utf8')) as {
      complete: boolean;
      files: { name: string }[];
    };
    const isComplete = manifest.complete;
    const [last] = manifest.files.splice(-1);
    writeFileSync(path, JSON.stringify({ ...manifest, complete: false }));
    renameSync(`${directory}/${last?.name}`, `${directory}/.part-${last?.name}`);

    const early = await gate(['import', '--from', directory], inServer());
    const rest = await gate(['export', '--to', directory], inEmbedded);

    expect(isComplete).to.equal(true);
    expect([early.code, early.progress]).to.deep.equal([
      1,
      [
        `The export in ${directory} was interrupted. Run "export" again with the same --to: it writes what is missing.`,
      ],
    ]);
    expect([whole.code, rest.code, rest.result['written_now']]).to.deep.equal([
      0,
      0,
      SMALL_TABLES.length + 1,
    ]);
    expect(rest.result['files']).to.equal(whole.result['files']);
    expect(rest.progress.at(-1)).to.match(new RegExp(`  ${last?.name}$`));
  });

  it('write files again that are missing or truncated, and import nothing meanwhile', async () => {
    const { files } = JSON.parse(readFileSync(`${directory}/manifest.json`, 'utf8')) as {
      files: { name: string; day?: string }[];
    };
    const [missing = '', truncated = ''] = files
      .filter(({ day }) => day !== undefined)
      .map(({ name }) => name);
    rmSync(`${directory}/${missing}`);
    const first = await gate(['import', '--from', directory], inServer());
    truncateSync(`${directory}/${truncated}`, 20);
    const again = await gate(['export', '--to', directory], inEmbedded);

    expect([first.code, first.progress[0]]).to.deep.equal([
      1,
      `The export in ${directory} has no whole file ${missing}. Run "export" again with the same --to: it writes what is missing.`,
    ]);
    expect(await server.query('SELECT 1 FROM projects')).to.deep.equal([]);
    expect([again.code, again.result['written_now']]).to.deep.equal([0, SMALL_TABLES.length + 2]);
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

    const again = await gate(['export', '--to', directory], inEmbedded);

    expect([again.code, again.result['written_now']]).to.deep.equal([0, SMALL_TABLES.length + 1]);
  });

  it('continue an interrupted import; a further import adds nothing', async () => {
    await gate(['import', '--from', directory], inServer(), 12);
    const rest = await gate(['import', '--from', directory], inServer());
    const again = await gate(['import', '--from', directory], inServer());

    expect([rest.code, again.code]).to.deep.equal([0, 0]);
    expect(rest.result['skipped']).to.be.above(0);
    expect([again.result['imported'], again.result['log_entries']]).to.deep.equal([0, 0]);
    const [row] = await server.query<{ n: string }>('SELECT count() AS n FROM decisions');
    expect(Number(row?.n)).to.equal(events.length);
  });

  it('give a service that answers as before: reads, keys, agents, accounts, sessions and identities', async () => {
    const service = await startTestService({ dataDir, env: onServer(server, singleSignOn()) });
    const again = events.slice(0, 50).map(async (event) => {
      const body = { ...event, outcome: 'deny', occurred_at: timeFromNow(0), reason: 'again' };
      return outcomeOf(await sendDecision(service, body, { key: demo.key }));
    });

    expect(tally(await Promise.all(again))).to.deep.equal({ '202': 50 });
    expect(await everythingOf(service, demo.project_id)).to.deep.equal(before_);
    expect((await fetchAgent(service, demo.agent_name, { key: demo.key })).status).to.equal(200);
    expect((await logIn(service, person.email, PASSWORD)).status).to.equal(200);
    expect((await logIn(service, late.email, PASSWORD)).status).to.equal(200);
    expect((await call(service, '/v1/auth/me', { cookie: person.cookie })).status).to.equal(200);
    expect(await signOn()).to.equal(subject);
    await service.stop();
  });

  it('extend the log: a record that was not in it yet enters behind the others, and none twice', async () => {
    copyFileSync(`${states}/old.json`, `${states}/embedded.json`);
    const service = await startTestService({ dataDir, env: onServer(server) });
    const late = await proofOf(service, idOf(-1));
    const event = decisionEvent();
    await sendDecision(service, event);
    const next = await proofOf(service, String(event['event_id']));

    expect([late.index, next.index]).to.deep.equal([EVENTS, EVENTS + 1]);
    const { index, entry, salt, line } = await proofOf(service, idOf(0));
    expect(firstProof).to.deep.include({ index, entry, salt, line });
    expect(JSON.stringify(await logKey(service))).to.equal(key);
    await expectHolds(service, 'old.json');
    await service.stop();
    expectWholeLog(await readWholeLog((sql) => server.query(sql)));
  });

  it('refuse to fork the log when both stores went on, and import nothing', async () => {
    const embedded = await startTestService({ dataDir });
    await sendDecision(embedded, decisionEvent());
    await checkpointFrom(embedded, EVENTS + 2);
    await embedded.stop();
    const before = await server.query('SELECT count() FROM decisions');

    const exported = await gate(['export', '--to', directory], inEmbedded);
    const imported = await gate(['import', '--from', directory], inServer());

    // Besides a day the newest part of the log has changed.
    expect([exported.code, exported.result['written_now']]).to.deep.equal([0, SMALL_TABLES.length + 2]);
    expect([imported.code, imported.progress]).to.deep.equal([
      1,
      [
        `The log of project ${demo.project_id} in this store differs from the exported one from index ${EVENTS + 1} on: ` +
          'both have grown since they were the same, and one log cannot have two histories.',
      ],
    ]);
    expect(await server.query('SELECT count() FROM decisions')).to.deep.equal(before);
  });

  it('extend the log on an embedded store, too', async () => {
    const other = temporaryDirectory();
    for (const name of ['log-key.pem', 'signing-key.pem'])
      copyFileSync(`${dataDir}/${name}`, `${other}/${name}`);

    const { code, result } = await gate(['import', '--from', directory], { GATE_DATA_DIR: other });

    expect([code, result['log_entries']]).to.deep.equal([0, EVENTS + 2]);
    const service = await startTestService({ dataDir: other, env: { GATE_DEMO: '0' } });
    await expectHolds(service, 'embedded.json');
    await service.stop();
  });

  it('report why a transfer is impossible', async () => {
    await server.query('TRUNCATE TABLE log_keys');
    await server.query("INSERT INTO log_keys VALUES (now64(3), 'another')");
    const elsewhere = temporaryDirectory();
    const listAt = (path: (url: string) => string) =>
      gate(['project', 'list'], { GATE_DATA_DIR: elsewhere, GATE_CLICKHOUSE_URL: path(server.url) });
    const wrong = await Promise.all([
      gate(['export', '--to', directory], inServer()),
      gate(['export', '--to', ROOT], inEmbedded),
      gate(['import', '--from', temporaryDirectory()], inServer()),
      gate(['import'], inServer()),
      gate(['import', '--from', directory], inServer()),
      listAt((url) => url.replace(/:[^:@]+@/, ':wrong@')),
      listAt((url) => url.replace(/\w+$/, 'gatehuose')),
      gate(['key', 'issue', '--project', demo.project_id], onServer(server, { GATE_DATA_DIR: elsewhere })),
    ]);

    expect(wrong.map(({ code }) => code)).to.deep.equal([1, 1, 1, 1, 1, 1, 1, 1]);
    expect(wrong.map(({ progress }) => progress[0])).to.satisfy((faults: string[]) =>
      [
        /embedded/,
        /not empty/,
        /does not contain an export/,
        /--from is missing/,
        /signed with the key another/,
        /^The store refused\. .*Authentication failed/,
        /^The store refused\. .*gatehuose/,
        /^There is no root key in /,
      ].every((words, i) => words.test(faults[i] ?? '')),
    );
    expect(readdirSync(elsewhere)).to.deep.equal([]);
  });
});
