import { expect } from 'chai';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { outcomeOf, sendDecision } from '../support/audit.ts';
import { decisionEvent } from '../support/events.ts';
import { eventually } from '../support/eventually.ts';
import { codeOf, exchange, head, openRaw } from '../support/raw-http.ts';
import { startTestService, type TestService } from '../support/service.ts';

const PATH = '/v1/audit/decisions';
const MIB = 1024 * 1024;

/** The lines that the service logged as errors. On a healthy day there are none. */
function errorsIn(output: string): string[] {
  return output.split('\n').filter((line) => /"level":[56]0/.test(line));
}

describe('a hostile request', () => {
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

  /** Sends the bytes on a separate connection, and returns how they are refused. */
  const refusal = async (...parts: (string | Buffer)[]) => codeOf(await exchange(service.url, ...parts));

  it('a body of 10 MB is 413, with a length and without', async () => {
    const parts = Array.from({ length: 160 }, () => Buffer.alloc(MIB / 16, 0x20));
    const chunks = parts.map((part) => Buffer.concat([Buffer.from('10000\r\n'), part, Buffer.from('\r\n')]));

    const sized = await refusal(head(PATH, withKey({ 'Content-Length': 10 * MIB })), ...parts);
    const headOfChunks = head(PATH, withKey({ 'Transfer-Encoding': 'chunked' }));
    const chunked = await refusal(headOfChunks, ...chunks, '0\r\n\r\n');

    expect(sized).to.deep.equal([413, 'body_too_large']);
    expect(chunked).to.deep.equal([413, 'body_too_large']);
  });

  it('a body of 10 MB with a bad key is 401', async () => {
    const parts = Array.from({ length: 160 }, () => Buffer.alloc(MIB / 16, 0x7b));
    const headers = { ...withKey({ 'Content-Length': 10 * MIB }), Authorization: 'Bearer bad' };

    expect(await refusal(head(PATH, headers), ...parts)).to.deep.equal([401, 'unauthenticated']);
  });

  it('a body with an enormous Content-Length is 413 at once', async () => {
    const headers = withKey({ 'Content-Length': Number.MAX_SAFE_INTEGER });

    expect(await refusal(head(PATH, headers), '{')).to.deep.equal([413, 'body_too_large']);
  });

  it('chunked bodies that are incomplete or invalid are 400', async () => {
    for (const bytes of [
      'zz\r\n',
      '5\r\nab\r\n0\r\n\r\n',
      '-1\r\n\r\n',
      'fffffffffffffffff\r\n',
      '1;x=\0\r\n',
    ]) {
      const headers = withKey({ 'Transfer-Encoding': 'chunked' });

      expect(await refusal(head(PATH, headers), bytes), bytes).to.deep.equal([400, 'request_invalid']);
    }
  });

  it('a request that breaks in its body is answered and logged with its own id', async () => {
    const headers = withKey({ 'X-Request-Id': 'abc', 'Transfer-Encoding': 'chunked' });

    const answer = await exchange(service.url, head(PATH, headers), 'zz\r\n');

    expect(codeOf(answer)).to.deep.equal([400, 'request_invalid']);
    expect(answer.headers['x-request-id']).to.equal('abc');
    await eventually(() => /"id":"abc"[^\n]*"statusCode":400/.test(service.output()));
  });

  it('a request with a broken head gets a new id, also after another request', async () => {
    const first = JSON.stringify(decisionEvent());
    const connection = await openRaw(service.url);
    await connection.write(
      head(PATH, withKey({ 'X-Request-Id': 'abc', 'Content-Length': first.length })) + first,
    );
    const accepted = await connection.answer();
    await connection.write('zz\r\n\r\n');
    const broken = await connection.answer();
    connection.close();

    expect([accepted.status, accepted.headers['x-request-id']]).to.deep.equal([202, 'abc']);
    expect(codeOf(broken)).to.deep.equal([400, 'request_invalid']);
    expect(broken.headers['x-request-id']).to.match(/^[0-9a-f-]{36}$/);
  });

  it('a hundred callers that disconnect while sending their body cause no error', async () => {
    const connections = await Promise.all(Array.from({ length: 100 }, () => openRaw(service.url)));
    for (const [i, connection] of connections.entries()) {
      const headers =
        i % 2 === 0
          ? { 'Content-Length': 500 }
          : { 'Transfer-Encoding': 'chunked', 'Content-Encoding': 'gzip' };
      await connection.write(`${head(PATH, withKey(headers))}${i % 2 === 0 ? '{"event_id": ' : '5\r\nabc'}`);
    }
    await sleep(50);
    const before = service.output().length;

    for (const connection of connections) connection.close();

    await eventually(() => service.output().slice(before).split('"msg":"request"').length > 100);
    expect(errorsIn(service.output().slice(before)).slice(0, 1)).to.deep.equal([]);
  });

  it('a slow body is accepted, and slow callers delay nobody', async () => {
    const stalled = await Promise.all(Array.from({ length: 100 }, () => openRaw(service.url)));
    await Promise.all(
      stalled.map((connection) => connection.write(head(PATH, withKey({ 'Content-Length': 500 })) + '{')),
    );
    const body = JSON.stringify(decisionEvent());
    const slow = await openRaw(service.url);
    await slow.write(head(PATH, withKey({ 'Content-Length': body.length })));
    for (let at = 0; at < body.length; at += 20) {
      await slow.write(body.slice(at, at + 20));
      await sleep(10);
    }
    const others = stalled.map(async (connection) => [(await connection.answer()).status]);
    const answers = async () => [
      (await slow.answer()).status,
      (await sendDecision(service, decisionEvent())).status,
    ];

    // Before the first of the stalled is refused.
    expect(await Promise.race([answers(), ...others])).to.deep.equal([202, 202]);
    for (const connection of [...stalled, slow]) connection.close();
  });

  it('sends 100 Continue when it is expected, unless the key is bad', async () => {
    const body = JSON.stringify(decisionEvent());
    const good = await openRaw(service.url);
    await good.write(head(PATH, withKey({ 'Content-Length': body.length, Expect: '100-continue' })));
    const first = await good.answer();
    await good.write(body);
    const second = await good.answer();
    good.close();
    const bad = await openRaw(service.url);
    const expecting = { 'Content-Length': body.length, Expect: '100-continue' };
    await bad.write(head(PATH, { ...withKey(expecting), Authorization: 'Bearer bad' }));
    const refused = await bad.answer();
    bad.close();

    expect([first.status, second.status]).to.deep.equal([100, 202]);
    expect(codeOf(refused)).to.deep.equal([401, 'unauthenticated']);
  });

  it('a gzip bomb in chunks is 413', async () => {
    const bomb = gzipSync(Buffer.alloc(20 * MIB));
    const chunked = Buffer.concat([
      Buffer.from(`${bomb.length.toString(16)}\r\n`),
      bomb,
      Buffer.from('\r\n0\r\n\r\n'),
    ]);

    const headers = withKey({ 'Transfer-Encoding': 'chunked', 'Content-Encoding': 'gzip' });

    expect(await refusal(head(PATH, headers), chunked)).to.deep.equal([413, 'body_too_large']);
  });

  it('JSON nested too deeply is 422, not 500', async () => {
    const deep = (open: string, close: string) => open.repeat(30_000) + close.repeat(30_000);
    for (const body of [
      '['.repeat(65_000),
      deep('[', ']'),
      '{"a":'.repeat(13_000),
      `{"a":${deep('[', ']')}}`,
    ]) {
      expect(await outcomeOf(await sendDecision(service, body))).to.deep.equal({
        status: 422,
        code: 'body_invalid',
      });
    }
  });

  it('one header of 100 KB is 431', async () => {
    const headers = withKey({ 'X-Flood': 'x'.repeat(100_000) });

    expect(await refusal(head(PATH, headers))).to.deep.equal([431, 'headers_too_large']);
  });

  it('10,000 headers are 431', async () => {
    const flood = Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`X-${i}`, 'x']));

    expect(await refusal(head(PATH, withKey(flood)))).to.deep.equal([431, 'headers_too_large']);
  });

  it('a path of 100 KB is 431', async () => {
    const path = `/${'x'.repeat(100_000)}`;

    expect(await refusal(head(path, {}, 'GET'))).to.deep.equal([431, 'headers_too_large']);
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
    ])
      expect(await refusal(bytes), JSON.stringify(bytes)).to.deep.equal([400, 'request_invalid']);
  });

  it('errors that Node itself answers have a request id and a problem body', async () => {
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
      const headers = { ...withKey(), Authorization: `Bearer ${key}`, 'Content-Length': 0 };
      const bytes = Buffer.from(head(PATH, headers), 'latin1');

      expect(await refusal(bytes), JSON.stringify(key)).to.deep.equal([401, 'unauthenticated']);
    }
  });
});
