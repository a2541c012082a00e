import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { zstdCompressSync } from 'node:zlib';
import { BODY_BYTES_MAX, HEADERS_ARRIVAL_MS_MAX, REQUEST_ARRIVAL_MS_MAX } from '../../server/limits.ts';
import { call, newEmail } from '../support/accounts.ts';
import { accepted, outcomeOf, readAllDecisions, sendLlm } from '../support/audit.ts';
import { decisionEvent, llmInvocation } from '../support/events.ts';
import { codeOf, head, openRaw } from '../support/raw-http.ts';
import { rssMb } from '../support/rss.ts';
import { useSharedService } from '../support/shared-service.ts';

const DRIP_MS = 100;
const tooLarge = { status: 413, code: 'body_too_large' };

describe('the bounds of a request', () => {
  const service = useSharedService();

  it('accepts a body of 1 MiB on routes other than ingest, and returns 413 for one byte more', async () => {
    const body = JSON.stringify({ name: randomUUID(), tools: ['search'] });
    const register = async (bytes: number) =>
      (await call(service, '/v1/agents', { key: service.key, body: body.padEnd(bytes) })).status;

    expect(BODY_BYTES_MAX).to.equal(1024 * 1024);
    expect(await register(BODY_BYTES_MAX + 1)).to.equal(tooLarge.status);
    expect(await register(BODY_BYTES_MAX)).to.equal(201);
  });

  it('returns 413 for a body over 1 MiB without a key', async () => {
    const body = JSON.stringify({ email: 'a@example.com', password: 'x' }).padEnd(BODY_BYTES_MAX + 1);

    expect(await outcomeOf(await call(service, '/v1/auth/login', { body }))).to.deep.equal(tooLarge);
  });

  it('300 compressed bodies of 1 MiB without a key take little memory', async () => {
    const [callers, requests] = [10, 30];
    const body = zstdCompressSync(JSON.stringify({ email: newEmail() }).padEnd(BODY_BYTES_MAX));
    const headers = {
      'Content-Type': 'application/json',
      'Content-Encoding': 'zstd',
      'Content-Length': body.length,
      'X-Forwarded-For': '203.0.113.7',
    };
    const request = Buffer.concat([Buffer.from(head('/v1/auth/request-verify-token', headers)), body]);
    const answers: string[] = [];
    const sendAll = async () => {
      const connection = await openRaw(service.url);
      await connection.write(Buffer.concat(Array<Buffer>(requests).fill(request)));
      for (let at = 0; at < requests; at += 1) answers.push(codeOf(await connection.answer()).join(' '));
      connection.close();
    };
    const beforeMb = rssMb(service.pid);

    await Promise.all(Array.from({ length: callers }, sendAll));

    expect(answers).to.have.length(callers * requests);
    expect(['202 {"status":"accepted"}', '503 overloaded']).to.include.members(answers);
    expect(rssMb(service.pid) - beforeMb).to.be.below(150);
  });

  it('a usage report of 1 MiB passes, and one byte more is 413', async () => {
    const send = async (bytes: number) =>
      outcomeOf(await sendLlm(service, JSON.stringify(llmInvocation()).padEnd(bytes)));

    expect(await send(BODY_BYTES_MAX)).to.deep.equal(accepted);
    expect(await send(BODY_BYTES_MAX + 1)).to.deep.equal(tooLarge);
  });

  it('treats ingest with a query string like ingest without one', async () => {
    const event = decisionEvent({ agent_name: randomUUID() });
    const send = async (body: unknown, key = service.key) =>
      outcomeOf(await call(service, '/v1/audit/decisions?x=1', { key, body }));

    const answers = [
      await send(event, 'bad'),
      await send(event),
      await send({ ...event, outcome: 'deny' }),
      await send(JSON.stringify(event).padEnd(BODY_BYTES_MAX + 1)),
    ];

    const stored = await readAllDecisions(service, String(event['agent_name']));
    expect(answers).to.deep.equal([{ status: 401, code: 'unauthenticated' }, accepted, accepted, tooLarge]);
    expect(stored.map(({ event_id, outcome }) => [event_id, outcome])).to.deep.equal([
      [event['event_id'], 'allow'],
    ]);
  });

  it('closes a connection after its last answer, even if the caller keeps its side open', async () => {
    const login = head('/v1/auth/login', { 'Content-Type': 'text/plain', 'Content-Length': 500 });
    const half = head('/v1/audit/decisions', { Authorization: 'Bearer x', 'Content-Length': 500 });

    const answers = [
      await untilReset(service.url, 'HELLO / WORLD/9\r\n\r\n'),
      ...(await Promise.all([untilReset(service.url, `${login}{`), untilReset(service.url, `${half}{`)])),
    ];

    expect(answers).to.deep.equal([400, 422, 401]);
  });

  it('a head that does not arrive within 10 s is 408 request_timeout, and so is a request that does not within 30 s', async () => {
    const startMs = performance.now();
    const late = async (bytes: string, timeMs: number) => {
      const connection = await openRaw(service.url);
      await connection.write(bytes);
      const answer = await connection.answer();
      const tookMs = performance.now() - startMs;
      connection.close();
      // The connections are checked once a second.
      expect(tookMs).to.be.within(timeMs - 100, timeMs + 2500);
      expect(codeOf(answer)).to.deep.equal([408, 'request_timeout']);
      return answer.headers['x-request-id'];
    };
    const withKey = { Authorization: `Bearer ${service.key}`, 'Content-Type': 'application/json' };
    const begun = head('/v1/audit/decisions', {
      ...withKey,
      'X-Request-Id': 'late',
      'Content-Length': 500,
    });

    const [, id] = await Promise.all([
      late('POST /v1/audit/decisions HTTP/1.1\r\nHost: x\r\n', HEADERS_ARRIVAL_MS_MAX),
      late(`${begun}{"event_id":`, REQUEST_ARRIVAL_MS_MAX),
    ]);

    expect(id).to.equal('late');
  });
});

/** Sends the bytes and then an occasional byte, never ends, and resolves with the status once the service resets the connection. */
async function untilReset(url: string, bytes: string): Promise<number> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  let text = '';
  socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
  socket.write(bytes);
  const drip = setInterval(() => socket.write('x'), DRIP_MS);
  await new Promise((resolve) => socket.on('error', resolve));
  clearInterval(drip);
  return Number(text.split(' ')[1]);
}
