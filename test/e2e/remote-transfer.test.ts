import { expect } from 'chai';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { SMALL_TABLES } from '../../server/cli/transfer.ts';
import { call, logIn, newPerson, PASSWORD, type Person } from '../support/accounts.ts';
import { fetchAgent } from '../support/agents.ts';
import { DAY_MS, outcomeOf, sendDecision, sendLlm, tally, timeFromNow } from '../support/audit.ts';
import { onServer } from '../support/clickhouse-server/services.ts';
import { type ClickHouseServer, startClickHouse } from '../support/clickhouse-server/start.ts';
import { decisionEvent, llmInvocation } from '../support/events.ts';
import { startTestService, temporaryDirectory, type TestService } from '../support/service.ts';
import { everythingOf, type Everything } from '../support/snapshot.ts';

const ROOT = new URL('../../', import.meta.url).pathname;
const EVENTS = 400;

type Ran = { code: number | null; signal: string | null; result: Record<string, number>; progress: string[] };

/** Runs the command line as a user does. SIGKILL ends it after `linesMax` lines of progress. */
async function gate(args: string[], env: Record<string, string>, linesMax = Infinity): Promise<Ran> {
  const child: ChildProcess = spawn(process.execPath, ['server/cli/main.ts', ...args, '--json'], {
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
  before(async () => {
    const embedded = await startTestService({ dataDir });
    demo = embedded.demo;
    person = await newPerson(embedded);
    for (let i = 0; i < EVENTS; i += 1) {
      const occurred_at = timeFromNow(-(i % 5) * DAY_MS);
      events.push(decisionEvent({ occurred_at, arguments: { n: i, text: `it's "${i}"\n` }, reason: 'a\tb' }));
    }
    const answers = await Promise.all(
      events.map(async (event) => outcomeOf(await sendDecision(embedded, event))),
    );
    await sendLlm(embedded, llmInvocation({ cost_usd: 0.1 }));
    expect(tally(answers)).to.deep.equal({ '202': EVENTS });
    before_ = await everythingOf(embedded, demo.project_id);
    await embedded.stop();
    server = await startClickHouse();
  });
  after(() => server.kill());

  const inEmbedded = { GATE_DATA_DIR: dataDir };
  const inServer = () => onServer(server, { GATE_DATA_DIR: dataDir });

  it('continue an interrupted export', async () => {
    await gate(['export', '--to', directory], inEmbedded, 3);
    const whole = await gate(['export', '--to', directory], inEmbedded);
    // As a kill during a file leaves it: under its temporary name and not in the manifest.
    const path = `${directory}/manifest.json`;
    const manifest = JSON.parse(readFileSync(path, 'utf8')) as { files: { name: string }[] };
    const [last] = manifest.files.splice(-1);
    writeFileSync(path, JSON.stringify(manifest));
    renameSync(`${directory}/${last?.name}`, `${directory}/.part-${last?.name}`);

    const rest = await gate(['export', '--to', directory], inEmbedded);

    expect([whole.code, rest.code, rest.result['written_now']]).to.deep.equal([
      0,
      0,
      SMALL_TABLES.length + 1,
    ]);
    expect(rest.result['files']).to.equal(whole.result['files']);
    expect(rest.progress.at(-1)).to.match(new RegExp(`  ${last?.name}$`));
  });

  it('export only what changed when run again: small tables and days with new events', async () => {
    const embedded = await startTestService({ dataDir });
    late = await newPerson(embedded);
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
    expect(again.result['imported']).to.equal(0);
    const [row] = await server.query<{ n: string }>('SELECT count() AS n FROM decisions');
    expect(Number(row?.n)).to.equal(events.length);
  });

  it('give a service that answers as before: reads, keys, agents, accounts, sessions and identities', async () => {
    const service = await startTestService({ dataDir, env: onServer(server) });
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
    await service.stop();
  });

  it('report why a transfer is impossible', async () => {
    const wrong = await Promise.all([
      gate(['export', '--to', directory], inServer()),
      gate(['export', '--to', ROOT], inEmbedded),
      gate(['import', '--from', temporaryDirectory()], inServer()),
      gate(['import'], inServer()),
    ]);

    expect(wrong.map(({ code }) => code)).to.deep.equal([1, 1, 1, 1]);
    expect(wrong.map(({ progress }) => progress[0])).to.satisfy(([a, b, c, d]: string[]) =>
      [/embedded/, /not empty/, /does not contain an export/, /--from is missing/].every((words, i) =>
        words.test([a, b, c, d][i] ?? ''),
      ),
    );
  });
});
