import { expect } from 'chai';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { outcomeOf, sendDecision } from '../support/audit.ts';
import { decisionEvent } from '../support/events.ts';
import { eventually } from '../support/eventually.ts';
import { codeOf, exchange, head, openRaw } from '../support/raw-http.ts';
import { startTestService, type TestService } from '../support/service.ts';

const PATH = '/v1/audit/decisions';
const MIB = 1024 * 1024;

/** The lines that the service logged as errors. In a healthy day there are none. */
function errorsIn(output: string): string[] {
  return output.split('\n').filter((line) => /"level":[56]0/.test(line));
}

describe('a hostile body', () => {
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

  it('a body of 10 MB is 413, with a length and without', async () => {
    const parts = Array.from({ length: 160 }, () => Buffer.alloc(MIB / 16, 0x20));
    const chunks = parts.map((part) => Buffer.concat([Buffer.from('10000\r\n'), part, Buffer.from('\r\n')]));

    const sized = await exchange(service.url, head(PATH, withKey({ 'Content-Length': 10 * MIB })), ...parts);
    const chunked = await exchange(
      service.url,
      head(PATH, withKey({ 'Transfer-Encoding': 'chunked' })),
      ...chunks,
      '0\r\n\r\n',
    );

    expect([codeOf(sized), codeOf(chunked)]).to.deep.equal([
      [413, 'body_too_large'],
      [413, 'body_too_large'],
    ]);
  });

  it('a body of 10 MB with a bad key is 401', async () => {
    const parts = Array.from({ length: 160 }, () => Buffer.alloc(MIB / 16, 0x7b));
    const headers = { ...withKey({ 'Content-Length': 10 * MIB }), Authorization: 'Bearer bad' };

    expect(codeOf(await exchange(service.url, head(PATH, headers), ...parts))).to.deep.equal([
      401,
      'unauthenticated',
    ]);
  });

  it('a body with an enormous Content-Length is 413 at once', async () => {
    const answer = await exchange(
      service.url,
      head(PATH, withKey({ 'Content-Length': Number.MAX_SAFE_INTEGER })),
      '{',
    );

    expect(codeOf(answer)).to.deep.equal([413, 'body_too_large']);
  });

  it('chunked bodies that are torn or wrong are 400', async () => {
    for (const bytes of [
      'zz\r\n',
      '5\r\nab\r\n0\r\n\r\n',
      '-1\r\n\r\n',
      'fffffffffffffffff\r\n',
      '1;x=\0\r\n',
    ]) {
      const answer = await exchange(
        service.url,
        head(PATH, withKey({ 'Transfer-Encoding': 'chunked' })),
        bytes,
      );

      expect(codeOf(answer), bytes).to.deep.equal([400, 'request_invalid']);
    }
  });

  it('a request that breaks in its body is answered and logged with its own id', async () => {
    const headers = withKey({ 'X-Request-Id': 'abc', 'Transfer-Encoding': 'chunked' });

    const answer = await exchange(service.url, head(PATH, headers), 'zz\r\n');

    expect(codeOf(answer)).to.deep.equal([400, 'request_invalid']);
    expect(answer.headers['x-request-id']).to.equal('abc');
    await eventually(() => /"id":"abc"[^\n]*"statusCode":400/.test(service.output()));
  });

  it('a request that breaks in its head gets a new id, also behind another request', async () => {
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

  it('a hundred callers that disconnect in their body cause no error', async () => {
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
    const startMs = performance.now();

    const [slowAnswer, quick] = [await slow.answer(), await sendDecision(service, decisionEvent())];

    expect([slowAnswer.status, quick.status]).to.deep.equal([202, 202]);
    expect(performance.now() - startMs).to.be.below(1000);
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

    const answer = await exchange(
      service.url,
      head(PATH, withKey({ 'Transfer-Encoding': 'chunked', 'Content-Encoding': 'gzip' })),
      chunked,
    );

    expect(codeOf(answer)).to.deep.equal([413, 'body_too_large']);
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
});
