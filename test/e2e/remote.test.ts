import { expect } from 'chai';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Agent, type IncomingMessage, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  call,
  cookieOf,
  jsonOf,
  logIn,
  mailedToken,
  newEmail,
  newMember,
  newPerson,
  newVerifiedPerson,
  PASSWORD,
  type Person,
  useToken,
} from '../support/accounts.ts';
import { clickhouseUrl } from '../../server/config-values.ts';
import { readConfig } from '../../server/config.ts';
import { RootKeys } from '../../server/keys/root-keys.ts';
import { readSigningKeys } from '../../server/keys/signing-keys.ts';
import { connectServer } from '../../server/store/connection.ts';
import { createResolvePolicy } from '../../client/policy/resolve-policy.ts';
import { type FetchedAgent, fetchAgent, register, save, type SavedAgent } from '../support/agents.ts';
import { readAllDecisions, sendDecision } from '../support/audit.ts';
import { recovery, writeMany } from '../support/clickhouse-server/probes.ts';
import { onServer, startPair } from '../support/clickhouse-server/services.ts';
import { type ClickHouseServer, startClickHouse } from '../support/clickhouse-server/start.ts';
import { captureLogger } from '../support/capture-logger.ts';
import { createServiceClock } from '../support/clock.ts';
import { decisionEvent } from '../support/events.ts';
import { issue, demoOwner, type Key, keySetOf, keysPath } from '../support/keys.ts';
import { gate, gateFault } from '../support/gate.ts';
import { eventually } from '../support/eventually.ts';
import { acknowledged, cutOff, startLoad } from '../support/load.ts';
import { ingestResult, readMetrics } from '../support/metrics.ts';
import { spawnService, startTestService, temporaryDirectory, type TestService } from '../support/service.ts';
import { HOUR_MS } from '../../server/durations.ts';

const REVOKED_MS_MAX = 5000;
const VERSION_MS_MAX = 1000;

describe('two services on one store share their state', () => {
  let server: ClickHouseServer;
  let one: TestService;
  let two: TestService;
  const clock = createServiceClock();
  before(async () => {
    server = await startClickHouse();
    [one, two] = await startPair(server, clock.env);
  });
  after(async () => {
    await Promise.all([one.stop(), two.stop()]);
    await server.kill();
  });

  it('a service that has no root key says that it makes another one', async () => {
    const third = await startTestService({
      dataDir: temporaryDirectory(),
      env: onServer(server, { GATE_DEMO: '0' }),
    });
    await third.stop();

    expect(third.output()).to.contain('The root key of this store is missing, and a new one is made');
  });

  it('a key works at the other service at once, and stops working within 5 s of its revocation', async () => {
    const { cookie, project } = await newPerson(one);
    const keys = `/v1/projects/${project.id}/keys`;
    const { key, key_id } = await jsonOf<{ key: string; key_id: string }>(
      call(one, keys, { cookie, body: {} }),
    );
    const statusAtTwo = async () => (await sendDecision(two, decisionEvent(), { key })).status;

    expect(await statusAtTwo()).to.equal(202);
    await call(one, `${keys}/${key_id}`, { cookie, method: 'DELETE' });
    const revokedMs = performance.now();
    expect((await sendDecision(one, decisionEvent(), { key })).status).to.equal(401);

    while ((await statusAtTwo()) === 202 && performance.now() - revokedMs < 2 * REVOKED_MS_MAX)
      await sleep(50);
    expect(performance.now() - revokedMs).to.be.below(REVOKED_MS_MAX);
    expect(await statusAtTwo()).to.equal(401);
  });

  it('a member who is removed with all keys keeps none that is issued at that moment', async () => {
    const ann = await newPerson(one);
    const bob = await newMember(one, ann, 'admin');
    await server.fail({ on: 'insert', table: 'api_keys', does: 'wait', ms: 2000, times: 1 });
    const issuing = call(one, keysPath(ann), { cookie: bob.cookie, body: {} });
    const member = `/v1/projects/${ann.project.id}/members/${bob.id}?revoke_keys=true`;

    const removed = await call(two, member, { cookie: ann.cookie, method: 'DELETE' });
    await issuing;
    await server.fail();

    const { items } = await jsonOf<{ items: Key[] }>(call(one, keysPath(ann), { cookie: ann.cookie }));
    expect([removed.status, items.filter(({ revoked_at }) => revoked_at === null)]).to.deep.equal([204, []]);
  });

  it('a stranger keeps no webhook and no member that is stored at the moment of a password reset', async () => {
    const mate = await newVerifiedPerson(one);
    const [first, second] = [await newPerson(one), await newPerson(one)];
    const projectOf = ({ project }: Person) => `/v1/projects/${project.id}`;
    const statuses: number[] = [];
    const resetDuring = async (person: Person, table: string, store: () => Promise<Response>) => {
      const token = await mailedToken(one, 'reset', person.email);
      await server.fail({ on: 'insert', table, does: 'wait', ms: 2000, times: 1 });
      const storing = store();
      const reset = await useToken(two, 'reset', token, 'the holder of the address');
      statuses.push(reset.status, (await storing).status);
      await server.fail();
      const cookie = cookieOf(await logIn(one, person.email, 'the holder of the address'));
      return (path: string) => jsonOf<object>(call(one, projectOf(person) + path, { cookie }));
    };

    const inFirst = await resetDuring(first, 'alert_settings', () =>
      call(one, `${projectOf(first)}/alerts/webhook`, {
        method: 'PUT',
        cookie: first.cookie,
        body: { url: 'https://stranger.example/hook' },
      }),
    );
    const inSecond = await resetDuring(second, 'project_members', () =>
      call(one, `${projectOf(second)}/members`, { cookie: second.cookie, body: { email: mate.email } }),
    );

    expect(statuses).to.deep.equal([200, 401, 200, 401]);
    expect(await inFirst('/alerts/settings')).to.deep.include({ webhook: null });
    expect(await inSecond('/members'))
      .to.have.property('items')
      .of.length(1);
  });

  it('a saved version is stamped and served by the other service within 1 s', async () => {
    const manifest = (n: number) => ({ name: 'shared', tools: ['search', `tool-${n}`] });
    const first = await jsonOf<SavedAgent>(register(one, manifest(0)));
    await eventually(async () => (await fetchAgent(two, 'shared', { key: one.key })).ok);
    for (const pauseMs of [0, 1500]) {
      await sleep(pauseMs);
      const saved = await jsonOf<SavedAgent>(register(one, manifest(pauseMs + 1)));
      expect(saved.agent_version_id).not.to.equal(first.agent_version_id);
      await sleep(VERSION_MS_MAX);

      const event = decisionEvent({ agent_name: 'shared' });
      await sendDecision(two, event, { key: one.key });

      const records = await readAllDecisions(two, 'shared', one.project_id);
      const record = records.find(({ event_id }) => event_id === event['event_id']);
      const served = await jsonOf<SavedAgent>(fetchAgent(two, 'shared', { key: one.key }));
      expect([record?.agent_version_id, served.agent_version_id]).to.deep.equal([
        saved.agent_version_id,
        saved.agent_version_id,
      ]);
    }
  });

  it('a saved version is served by the other service within 1 s even after the clock was set back', async () => {
    const manifest = (n: number) => ({ name: 'set-back', tools: ['search', `tool-${n}`] });
    await register(one, manifest(0));
    await eventually(async () => (await fetchAgent(two, 'set-back', { key: one.key })).ok);

    clock.passMs(-3 * HOUR_MS);
    const saved = await jsonOf<SavedAgent>(register(one, manifest(1)));
    await sleep(VERSION_MS_MAX);
    const served = await jsonOf<SavedAgent>(fetchAgent(two, 'set-back', { key: one.key }));
    clock.passMs(3 * HOUR_MS);

    expect(served.agent_version_id).to.equal(saved.agent_version_id);
  });

  it('concurrent registrations and saves of one agent use each version number once', async () => {
    const both = [one, two] as const;
    const { key } = await issue(one, await demoOwner(one), { scope: 'register_agent edit_policy' });

    const registered = await Promise.all(
      Array.from({ length: 12 }, (_, i) =>
        register(both[i % 2 === 0 ? 0 : 1], { name: 'raced', tools: ['a'] }, { key }),
      ),
    );
    const bodies = await Promise.all(registered.map((response) => jsonOf<SavedAgent>(response)));
    const saves = await Promise.all(
      Array.from({ length: 6 }, (_, i) =>
        save(
          both[i % 2 === 0 ? 0 : 1],
          'raced',
          { system_md: `prompt ${i}` },
          { key, projectId: one.project_id },
        ),
      ),
    );

    expect(registered.filter(({ status }) => status !== 200 && status !== 201).length).to.equal(0);
    expect(new Set(bodies.map(({ agent_version_id }) => agent_version_id)).size).to.equal(1);
    const rows = await server.query<{ version: number; n: string }>(
      "SELECT version, count() AS n FROM agent_versions WHERE agent_name = 'raced' GROUP BY version ORDER BY version",
    );
    expect(rows.filter(({ n }) => Number(n) !== 1)).to.deep.equal([]);
    const savesWith = (wanted: number) => saves.filter(({ status }) => status === wanted).length;
    // A save that waited too long behind the others on a slow machine may still have succeeded.
    const [saved, late] = [savesWith(200), savesWith(503)];
    expect(saved + late + savesWith(412)).to.equal(saves.length);
    expect(rows.length - 1).to.be.within(saved, saved + late);
  });

  it('a rotation of the root key is published by both while they run, and survives a restart of one', async () => {
    const manifest = { name: 'rotated', tools: ['search'] };
    const before = await jsonOf<SavedAgent>(register(one, manifest));
    const logger = captureLogger();
    const resolvePolicy = createResolvePolicy({ now: Date.now });
    const client = { agentName: 'rotated', key: one.key, baseUrl: two.url, logger };
    const source = await resolvePolicy(client);

    const where = onServer(server, { GATE_DATA_DIR: one.dataDir });
    const { kid, previous_kid } = await gate<{ kid: string; previous_kid: string }>(where, 'key', 'rotate');
    const sets = await Promise.all([one, two].map(keySetOf));
    // The services still have the old key, and leave signatures by the new one unchanged.
    const again = await jsonOf<SavedAgent>(register(two, manifest));
    const { key } = await gate<{ key: string }>(where, 'key', 'issue', '--project', one.project_id);
    const sent = await sendDecision(two, decisionEvent(), { key });
    const kidAt = async (service: TestService) => {
      const { bundle_manifest = '{}' } = await jsonOf<FetchedAgent>(
        fetchAgent(service, 'rotated', { key: one.key }),
      );
      return (JSON.parse(bundle_manifest) as { kid: string }).kid;
    };
    await one.stop();
    one = await startTestService({ dataDir: one.dataDir, env: onServer(server) });
    const saved = await jsonOf<SavedAgent>(register(one, { ...manifest, tools: ['search', 'more'] }));
    await eventually(async () => {
      await source.refresh();
      return source.agentVersionId === saved.agent_version_id;
    });

    expect(sent.status).to.equal(202);
    expect(
      sets.map(({ keys, successions }) => [keys.map((one) => one.kid), successions.length]),
    ).to.deep.equal([
      [[previous_kid, kid], 1],
      [[previous_kid, kid], 1],
    ]);
    expect(again).to.deep.equal({ ...before, created: false });
    expect(await kidAt(one)).to.equal(kid);
    expect(logger.at('warn')).to.deep.equal([
      'The service signs with a new key, which a trusted key vouches for',
    ]);
    expect((await sendDecision(one, decisionEvent(), { key: one.key })).status).to.equal(202);
  });

  it('a rotation of the root key stops if another one was recorded at the same time', async () => {
    const newKey = async () => {
      const where = onServer(server, {
        GATE_DATA_DIR: temporaryDirectory(),
        GATE_SIGNING_KEY: randomBytes(32).toString('base64'),
      });
      return { where, signing: await readSigningKeys(readConfig(where)) };
    };
    const [{ where, signing }, { signing: other }] = [await newKey(), await newKey()];
    await server.fail({ on: 'other', table: 'root_key_successions', does: 'wait', ms: 2000 });
    const rotating = gateFault(where, 'key', 'rotate');
    const successors = () =>
      server.query<{ kid: string }>(
        `SELECT kid FROM root_key_successions WHERE previous_kid = '${signing.kid}'`,
      );
    const recorded = await eventually(async () => (await successors())[0]);
    const connection = connectServer(clickhouseUrl(server.url), { settings: {}, silenceMsMax: 5000 });
    const ready = () => Promise.resolve();
    // The other rotation began before this key was recorded.
    await new RootKeys({ signing, connection, ready, isSoleWriter: false, now: Date.now }).recordRotation(
      other,
    );
    await connection.close();
    const { message } = await rotating;
    await server.fail();

    expect(message).to.contain('Two rotations ran at the same time').and.contain(recorded.kid);
    expect(message).to.contain(other.kid);
  });

  it('a session and its end are known to both', async () => {
    const { email, cookie } = await newPerson(one);
    const other = cookieOf(await logIn(two, email));
    const me = async (service: TestService, with_: string) =>
      (await call(service, '/v1/auth/me', { cookie: with_ })).status;

    const before = [await me(two, cookie), await me(one, other)];
    await call(two, '/v1/auth/logout', { cookie, method: 'POST', body: {} });

    expect([...before, await me(one, cookie), await me(one, other)]).to.deep.equal([200, 200, 401, 200]);
  });

  it('a session outlives the change of its password, though the clock of the other service is ahead', async () => {
    const { cookie } = await newPerson(one);
    const me = async (service: TestService) => (await call(service, '/v1/auth/me', { cookie })).status;
    const aheadMs = 20_000;

    // Long enough for the use to be stored.
    clock.passMs(HOUR_MS + aheadMs);
    const used = await me(two);
    clock.passMs(-aheadMs);
    const body = { password: PASSWORD, new_password: 'another long password' };
    const { status } = await call(one, '/v1/auth/change-password', { cookie, body });
    const after = [await me(one), await me(two)];
    clock.passMs(-HOUR_MS);

    expect([used, status, ...after]).to.deep.equal([200, 204, 200, 200]);
  });

  it('of two owners who step down at the same time one may, and the other stays', async () => {
    const ann = await newPerson(one);
    const bob = await newMember(one, ann, 'owner');
    const setRole = (service: TestService, { cookie }: Person, { id }: Person, role: string) =>
      call(service, `/v1/projects/${ann.project.id}/members/${id}`, {
        method: 'PUT',
        cookie,
        body: { role },
      });
    for (let round = 0; round < 10; round += 1) {
      const [byAnn, byBob] = await Promise.all([
        setRole(one, ann, ann, 'viewer'),
        setRole(two, bob, bob, 'viewer'),
      ]);

      expect([byAnn.status, byBob.status]).to.have.members([200, 409]);
      const [owner, former] = byAnn.status === 409 ? [ann, bob] : [bob, ann];
      expect((await setRole(one, owner, former, 'owner')).status).to.equal(200);
    }
  });

  it('keeps both of two changes of alert settings that are made at the same time', async () => {
    const { project, cookie } = await newPerson(one);
    const alerts = (service: TestService, what: string, method: string, body?: unknown) =>
      call(service, `/v1/projects/${project.id}/alerts/${what}`, { method, cookie, body });
    for (let round = 0; round < 10; round += 1) {
      await alerts(one, 'webhook', 'PUT', { url: 'https://hooks.example.com/' });
      const denials = round % 2 === 0;

      await Promise.all([
        alerts(one, 'settings', 'PUT', { rules: { denials } }),
        alerts(two, 'webhook', 'DELETE'),
      ]);

      const { rules, webhook } = await jsonOf<{ rules: { denials: boolean }; webhook: unknown }>(
        alerts(one, 'settings', 'GET'),
      );
      expect([rules.denials, webhook]).to.deep.equal([denials, null]);
    }
  });

  it('keeps every change of members that both make at the same time', async () => {
    const ann = await newPerson(one);
    const people: Person[] = [];
    while (people.length < 6) people.push(await newVerifiedPerson(one));

    const added = await Promise.all(
      people.map(({ email }, i) =>
        call(i % 2 === 0 ? one : two, `/v1/projects/${ann.project.id}/members`, {
          cookie: ann.cookie,
          body: { email },
        }),
      ),
    );

    expect(added.map(({ status }) => status)).to.deep.equal(Array(6).fill(201));
  });
});

describe('GATE_WORKERS', () => {
  const WORKERS = 2;
  const WRITES = 100;
  let server: ClickHouseServer;
  let service: TestService;
  before(async () => {
    server = await startClickHouse();
    service = await startTestService({ env: onServer(server, { GATE_WORKERS: String(WORKERS) }) });
    await eventually(() => pids().size === WORKERS);
  });
  after(() => server.kill());

  const linesOf = (msg: string) =>
    service
      .output()
      .split('\n')
      .filter((line) => line.includes(`"msg":"${msg}"`));
  const pids = () =>
    new Set(linesOf('Gatehouse is listening').map((line) => Number(/"pid":(\d+)/.exec(line)?.[1])));

  it('shares the port and sums the metrics of all workers', async () => {
    const agent = randomUUID();
    const before = await readMetrics(service);

    const writes = await writeMany(service, agent, WRITES);
    const texts = await Promise.all(Array.from({ length: 4 }, () => readMetrics(service)));

    expect(writes.filter(({ status }) => status !== 202)).to.deep.equal([]);
    for (const after of texts) {
      expect(after.value(ingestResult('accepted')) - before.value(ingestResult('accepted'))).to.equal(WRITES);
      expect([after.value('gate_store_up'), after.named('gate_store_up').length]).to.deep.equal([1, 1]);
    }
    const answerers = linesOf('request').map((line) => Number(/"pid":(\d+)/.exec(line)?.[1]));
    expect(new Set(answerers)).to.deep.equal(pids());
  });

  it('counts the failed logins of all workers together: the eleventh is refused, whoever gets it', async () => {
    const email = `${randomUUID()}@example.org`;
    const statuses: number[] = [];
    // One after another, each on a connection of its own, which the workers get in turn.
    for (let attempt = 0; attempt < 2 * 10 + 1; attempt += 1) {
      const response = await fetch(`${service.url}/v1/auth/login`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', Connection: 'close' },
        body: JSON.stringify({ email, password: 'a wrong password' }),
      });
      await response.text();
      statuses.push(response.status);
    }

    expect(statuses).to.deep.equal([...Array<number>(10).fill(401), ...Array<number>(11).fill(429)]);
  });

  it('allows ten guesses in a burst that all workers share', async () => {
    const email = `${randomUUID()}@example.org`;
    // A 503 is tried again: on a slow machine, the password checks wait too long for one another.
    const guess = async (): Promise<number> => {
      const response = await fetch(`${service.url}/v1/auth/login`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', Connection: 'close' },
        body: JSON.stringify({ email, password: 'a wrong password' }),
      });
      await response.text();
      return response.status === 503 ? guess() : response.status;
    };

    const burst = await Promise.all(Array.from({ length: 15 * WORKERS }, guess));

    expect(burst.filter((status) => status === 401)).to.have.length(10);
    expect(burst.filter((status) => status === 429)).to.have.length(15 * WORKERS - 10);
  });

  it('answers 503 at /metrics within 5 s while a worker is frozen', async () => {
    const [frozen = 0] = pids();
    const scrape = async () => {
      const response = await fetch(`${service.url}/metrics`, { headers: { Connection: 'close' } });
      return { status: response.status, afterMs: performance.now() - startMs };
    };
    process.kill(frozen, 'SIGSTOP');
    const startMs = performance.now();
    // The frozen worker gets at most one of the connections.
    const scrapes = [scrape(), scrape()];
    const { status, afterMs } = await Promise.race(scrapes);
    process.kill(frozen, 'SIGCONT');
    await Promise.all(scrapes);

    expect(status).to.equal(503);
    expect(afterMs).to.be.below(5000);
  });

  it('answers 503 within 5 s where attempts are counted while the overseer is frozen', async () => {
    // A connection that a worker has already.
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const post = async (path: string) => {
      const headers = { 'Content-Type': 'application/json' };
      const sent = request(`${service.url}${path}`, { method: 'POST', agent, headers });
      sent.end(JSON.stringify({ email: newEmail(), password: 'a long password' }));
      const [response] = (await once(sent, 'response')) as [IncomingMessage];
      response.resume();
      await once(response, 'end');
      return response.statusCode;
    };
    const before = await post('/v1/auth/login');
    process.kill(service.pid, 'SIGSTOP');
    const startMs = performance.now();
    const frozen = await post('/v1/auth/login');
    const afterMs = performance.now() - startMs;
    process.kill(service.pid, 'SIGCONT');
    agent.destroy();

    expect([before, frozen]).to.deep.equal([401, 503]);
    expect(afterMs).to.be.below(5000);
  });

  it('replaces a dead worker without losing an acknowledged decision', async () => {
    const agent = randomUUID();
    const [victim] = pids();
    const load = startLoad(service, { connections: 16, agent });
    await eventually(() => acknowledged(load.sent).length > 50);

    process.kill(victim ?? 0, 'SIGKILL');
    await eventually(() => cutOff(load.sent).length > 0);
    load.end();
    await load.ended;
    const recoveredMs = await recovery(service, `${agent} over`);
    await eventually(() => pids().size === WORKERS + 1);

    const stored = (await readAllDecisions(service, agent)).map(({ event_id }) => event_id);
    const missing = acknowledged(load.sent).filter((id) => !stored.includes(id));
    expect(recoveredMs).to.be.below(5000);
    expect(missing).to.deep.equal([]);
    expect(new Set(stored).size).to.equal(stored.length);
  });

  it('ends all workers with exit code 0 on SIGTERM', async () => {
    expect(await service.stop()).to.equal(0);
  });

  it('ends with exit code 0 on SIGTERM before the first worker is ready', async () => {
    const env = onServer(server, { GATE_WORKERS: String(WORKERS) });
    const child = spawnService({ dataDir: temporaryDirectory(), env });
    await eventually(() => readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8') !== '');

    child.kill('SIGTERM');

    expect(await once(child, 'exit')).to.deep.equal([0, null]);
  });
});
