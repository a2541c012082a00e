import { expect } from 'chai';
import { createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { call, codeOf, logIn, newEmail, register, requestToken, useToken } from '../support/accounts.ts';
import { onServer } from '../support/clickhouse-server/services.ts';
import { startClickHouse } from '../support/clickhouse-server/start.ts';
import { keyWith } from '../support/keys.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { listen } from '../support/listen.ts';

/** Calls that people make while the store is down or hangs: each takes at least one statement. */
const calls: [string, (service: TestService) => Promise<Response>][] = [
  ['register', (service) => register(service, newEmail())],
  ['login', (service) => logIn(service, newEmail())],
  ['verify', (service) => useToken(service, 'verify', 'A'.repeat(43))],
  ['me', (service) => call(service, '/v1/auth/me', { cookie: `gate_session=${'A'.repeat(43)}` })],
  [
    'key list',
    (service) => call(service, '/v1/projects/x/keys', { cookie: `gate_session=${'A'.repeat(43)}` }),
  ],
];

describe('with a store that accepts connections and never answers', () => {
  const sockets = new Set<Socket>();
  let store: Server;
  let service: TestService;
  before(async () => {
    store = createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => undefined);
    });
    const port = await listen(store);
    const freed = setTimeout(() => sockets.forEach((socket) => socket.destroy()), 1000);
    service = await startTestService({
      env: { GATE_DEMO: '0', GATE_CLICKHOUSE_URL: `http://127.0.0.1:${port}/gatehouse` },
    });
    clearTimeout(freed);
    // The failed start is remembered for a second. After that, the store is asked again, and hangs.
    await sleep(1500);
  });
  after(async () => {
    for (const socket of sockets) socket.destroy();
    store.close();
    await service.kill();
  });

  it('returns 503 with Retry-After within 5 s from every call that needs it', async () => {
    const answers = await Promise.all(
      calls.map(async ([name, make]) => {
        const startMs = performance.now();
        const response = await make(service);
        const withTimeout = performance.now() - startMs < 5000;
        return [
          name,
          response.status,
          response.headers.get('Retry-After'),
          await codeOf(response),
          withTimeout,
        ];
      }),
    );

    expect(answers).to.deep.equal(calls.map(([name]) => [name, 503, '5', 'store_unavailable', true]));
  });

  it('answers at once if it needs no store: a missing session, a bad key, a bad body, a request for mail', async () => {
    const responses = [
      await call(service, '/v1/auth/me'),
      await call(service, '/v1/projects/x/keys'),
      await call(service, '/v1/projects/x/keys', { key: 'none' }),
      await call(service, '/v1/auth/register', { body: {} }),
      await requestToken(service, 'reset', newEmail()),
      await requestToken(service, 'verify', newEmail()),
    ];

    expect(responses.map(({ status }) => status)).to.deep.equal([401, 401, 401, 422, 202, 202]);
  });
});

describe('with a frozen store, concurrent calls for one account or agent', () => {
  it('return 503 within 5 s', async () => {
    const server = await startClickHouse();
    const service = await startTestService({ env: onServer(server) });
    const { project_id, agent_name } = service.demo;
    const key = await keyWith(service, { scope: 'edit_policy' });
    const agent = `/v1/projects/${project_id}/agents/${agent_name}`;
    const body = { system_md: 'new' };
    await call(service, agent, { method: 'PUT', key, body });
    const email = newEmail();
    server.freeze();
    const answers: unknown[] = [];

    for (const make of [
      () => logIn(service, email),
      () => register(service, email),
      () => call(service, agent, { method: 'PUT', key, body: { system_md: 'newer' } }),
    ]) {
      const startMs = performance.now();
      const ask = async () => [(await make()).status, performance.now() - startMs < 5000];
      answers.push(...(await Promise.all(Array.from({ length: 5 }, ask))));
    }
    server.thaw();
    await service.stop();
    await server.kill();

    expect(answers).to.deep.equal(Array.from({ length: 15 }, () => [503, true]));
  });
});
