import { expect } from 'chai';
import { once } from 'node:events';
import { closeSync, cpSync, mkdirSync, openSync, readdirSync, symlinkSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import type { ChildProcess } from 'node:child_process';
import { newPerson, requestToken } from '../support/accounts.ts';
import { decisionEvent } from '../support/events.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/listen.ts';
import { readMetrics } from '../support/metrics.ts';
import { runGate } from '../support/processes.ts';
import {
  PRELOAD,
  ROOT,
  spawnService,
  startTestService,
  storeDirectory,
  temporaryDirectory,
} from '../support/service.ts';

describe('a clone in a directory whose name a URL must encode', () => {
  it('serves the dashboard and the page of the API, and writes nothing beside the clone', async () => {
    const parent = temporaryDirectory();
    const root = join(parent, "ü #1 100%20 it's");
    mkdirSync(root);
    for (const name of ['package.json', 'client', 'clickhouse', 'server'])
      cpSync(join(ROOT, name), join(root, name), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules'), join(root, 'node_modules'));
    // With the options of Node, the source runs, not a bundle of it. Without a cache in the environment, the service sets up its own.
    const env = { NODE_OPTIONS: PRELOAD, NODE_COMPILE_CACHE: '' };

    const service = await startTestService({ root, env });
    const statuses = await Promise.all(
      ['/', '/docs', '/docs/start.js', '/docs/swagger-ui.css'].map(
        async (path) => (await fetch(service.url + path)).status,
      ),
    );
    await service.stop();

    expect(statuses).to.deep.equal([200, 200, 200, 200]);
    expect(readdirSync(parent)).to.deep.equal(["ü #1 100%20 it's"]);
  });
});

describe('a time zone that the engine cannot load', () => {
  it('prevents neither a start nor a command', async () => {
    const env = { TZ: 'JST-9' };
    const service = await startTestService({ env });
    await service.stop();

    const { code, stdout, stderr } = await runGate({ ...service, args: ['project', 'list'], env });

    expect([code, stderr]).to.deep.equal([0, '']);
    expect(stdout).to.contain(service.project_id);
  });
});

describe('a standard output that nobody reads', () => {
  it('does not end the service if it is closed', async () => {
    const { child, exited } = await startUnread((service) => service.stdout?.destroy());

    child.kill('SIGTERM');

    expect(await exited).to.deep.equal([0, null]);
  });

  it('does not keep the service from ending if it is full', async () => {
    const { url, child, exited } = await startUnread();
    for (let request = 0; request < 100; request += 1) await fetch(`${url}/${'x'.repeat(10_000)}`);

    child.kill('SIGTERM');

    expect(await exited).to.deep.equal([0, null]);
  });
});

describe('a standard error that is closed', () => {
  it('does not end the service when it prints a mail', async () => {
    const { url, child, exited } = await startUnread((service) => service.stderr?.destroy());
    await printMail(url);

    child.kill('SIGTERM');

    expect(await exited).to.deep.equal([0, null]);
  });
});

describe('a standard output and a standard error on a full disk', () => {
  it('keep the service neither from running nor from ending', async () => {
    const full = openSync('/dev/full', 'w');
    const { url, child, exited } = await startUnread(() => closeSync(full), full);
    await printMail(url);

    child.kill('SIGTERM');

    expect(await exited).to.deep.equal([0, null]);
  });
});

describe('a container with little memory', () => {
  it('refuses bodies beyond what has room in it, and takes the others', async () => {
    const service = await startTestService({ env: { GATE_TEST_MEMORY_BYTES: String(128 * 1024 ** 2) } });
    const body = JSON.stringify(decisionEvent()).padEnd(1024 ** 2);
    const begin = () => {
      const headers = { Authorization: `Bearer ${service.key}`, 'Content-Type': 'application/json' };
      const sending = request(`${service.url}/v1/audit/decisions`, { method: 'POST', headers });
      const status = once(sending, 'response').then(([answer]) => (answer as IncomingMessage).statusCode);
      sending.on('error', () => undefined).write(body.slice(0, -1));
      return { status, end: () => sending.end(' ') };
    };

    const bodies = Array.from({ length: 9 }, begin);
    const refused = await Promise.race(bodies.map(async ({ status }) => status));
    for (const { end } of bodies) end();
    const taken = await Promise.all(bodies.map(({ status }) => status));

    expect(refused).to.equal(503);
    expect(taken).to.have.members([...Array.from({ length: 8 }, () => 202), 503]);
    await service.stop();
  });
});

/** Without a mail provider, the service prints the mail to standard error. */
async function printMail(url: string): Promise<void> {
  const { email } = await newPerson({ url });
  await requestToken({ url }, 'reset', email);
  const series = 'gate_mail_total{kind="reset",result="sent"}';
  await eventually(async () => (await readMetrics({ url })).value(series) === 1);
}

async function startUnread(change: (child: ChildProcess) => void = () => undefined, output?: number) {
  const port = String(await freePort());
  const child = spawnService({ dataDir: await storeDirectory(), env: { GATE_PORT: port }, output });
  const exited = once(child, 'exit');
  change(child);
  const url = `http://127.0.0.1:${port}`;
  const isReady = () =>
    fetch(`${url}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
  await eventually(isReady);
  child.ref();
  return { url, child, exited };
}
