import { expect } from 'chai';
import { once } from 'node:events';
import { connect } from 'node:net';
import { sendDecision } from '../support/audit.ts';
import { decisionEvent } from '../support/events.ts';
import { eventually } from '../support/eventually.ts';
import { codeOf, exchange, head } from '../support/raw-http.ts';
import { startTestService, type TestService } from '../support/service.ts';

const PATH = '/v1/audit/decisions';

describe('a hostile head', () => {
  let service: TestService;
  before(async () => {
    service = await startTestService();
  });
  afterEach('the same process still accepts a decision', async () => {
    expect((await sendDecision(service, decisionEvent())).status).to.equal(202);
  });
  after('it stops with exit code 0', async () => {
    expect(await service.stop()).to.equal(0);
  });

  const withKey = (headers: Record<string, string | number> = {}) => ({
    Authorization: `Bearer ${service.key}`,
    'Content-Type': 'application/json',
    ...headers,
  });

  it('one header of 100 KB is 431', async () => {
    const answer = await exchange(service.url, head(PATH, withKey({ 'X-Flood': 'x'.repeat(100_000) })));

    expect(codeOf(answer)).to.deep.equal([431, 'headers_too_large']);
  });

  it('10,000 headers are 431', async () => {
    const flood = Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`X-${i}`, 'x']));

    expect(codeOf(await exchange(service.url, head(PATH, withKey(flood))))).to.deep.equal([
      431,
      'headers_too_large',
    ]);
  });

  it('a path of 100 KB is 431', async () => {
    expect(codeOf(await exchange(service.url, head(`/${'x'.repeat(100_000)}`, {}, 'GET')))).to.deep.equal([
      431,
      'headers_too_large',
    ]);
  });

  it('900 headers within the limit are accepted', async () => {
    const body = JSON.stringify(decisionEvent());
    const many = Object.fromEntries(Array.from({ length: 900 }, (_, i) => [`X-${i}`, 'x']));

    const answer = await exchange(
      service.url,
      head(PATH, { ...withKey(many), 'Content-Length': body.length }),
      body,
    );

    expect(answer.status).to.equal(202);
  });

  it('a request that is not HTTP is 400', async () => {
    for (const bytes of [
      '\0\x01\x02\r\n\r\n',
      'GET\r\n\r\n',
      'HELLO / WORLD/9\r\n\r\n',
      '\x16\x03\x01\x02\x00\x01\x00\x01\xfc',
      'POST / HTTP/1.1\r\nA b: c\r\n\r\n',
    ]) {
      expect(codeOf(await exchange(service.url, bytes)), JSON.stringify(bytes)).to.deep.equal([
        400,
        'request_invalid',
      ]);
    }
  });

  it('errors that Node answers by itself have a request id and a problem body', async () => {
    const id = 'given-by-the-caller';
    const given = `X-Request-Id: ${id}\r\n`;
    const hostless = await exchange(service.url, `GET /healthz HTTP/1.1\r\n${given}\r\n`);
    const target = (text: string) => head(text, { 'X-Request-Id': id }, 'GET');
    const nowhere = await Promise.all(
      ['http://:99999/healthz', 'http://[x/healthz', '//:99999/healthz'].map((text) =>
        exchange(service.url, target(text)),
      ),
    );
    const absolute = await exchange(service.url, target('http://localhost/healthz'));
    const old = await exchange(service.url, `GET /healthz HTTP/1.0\r\n${given}\r\n`);
    const body = JSON.stringify(decisionEvent());
    const expecting = withKey({ 'Content-Length': body.length, Expect: 'x', 'X-Request-Id': id });
    const unmet = await exchange(service.url, head(PATH, expecting) + body);

    for (const answer of [hostless, ...nowhere])
      expect(codeOf(answer)).to.deep.equal([400, 'request_invalid']);
    expect([absolute.status, old.status, unmet.status]).to.deep.equal([200, 200, 202]);
    for (const { headers } of [hostless, ...nowhere, absolute, old, unmet])
      expect(headers['x-request-id']).to.equal(id);
  });

  it('a request that is not HTTP is logged with the id of its answer', async () => {
    const broken = await exchange(service.url, 'no http\r\n\r\n');
    const id = broken.headers['x-request-id'] ?? '';
    const line = await eventually(() =>
      service
        .output()
        .split('\n')
        .find((text) => text.includes(id)),
    );

    expect(JSON.parse(line)).to.deep.include({ req: { id }, res: { statusCode: 400 }, msg: 'request' });
  });

  it('the service survives CONNECT requests that are reset', async () => {
    for (let round = 0; round < 50; round += 1) {
      const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
      socket.on('error', () => undefined);
      await once(socket, 'connect');
      socket.write('CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\nxxx', () => socket.resetAndDestroy());
    }

    expect((await fetch(`${service.url}/healthz`)).status).to.equal(200);
  });

  it('an ambiguous request is 400', async () => {
    const smuggled = 'GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n';
    const ambiguous = [
      head(PATH, withKey({ 'Content-Length': 5, 'Transfer-Encoding': 'chunked' })) + `0\r\n\r\n${smuggled}`,
      head(PATH, withKey({ 'Content-Length': '5', 'content-length': '6' })) + 'xxxxxx',
      head(PATH, withKey({ 'Content-Length': '-5' })),
      head(PATH, withKey({ 'Content-Length': '5x' })),
      'GET /healthz HTTP/1.1\r\n\r\n',
    ];
    for (const bytes of ambiguous)
      expect((await exchange(service.url, bytes)).status, bytes.slice(-60)).to.equal(400);
  });

  it('a key of arbitrary bytes is 401', async () => {
    for (const key of [
      '\x80\xff',
      'a\tb',
      '%00',
      '{}',
      'null',
      '../../etc/passwd',
      '__proto__',
      'a.__proto__.b',
      `${'a'.repeat(5000)}.b.c`,
    ]) {
      const answer = await exchange(
        service.url,
        Buffer.from(
          head(PATH, { ...withKey(), Authorization: `Bearer ${key}`, 'Content-Length': 0 }),
          'latin1',
        ),
      );

      expect(codeOf(answer), JSON.stringify(key)).to.deep.equal([401, 'unauthenticated']);
    }
  });
});
