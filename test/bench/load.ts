// A closed-loop load generator in a separate process: each connection sends its next request when the last was answered. Raw sockets and
// one prepared request, so that it uses as little as possible of the two cores it shares with the server. node load.ts '<LoadArguments as
// JSON>' → one line of JSON
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export type LoadArguments = {
  host: string;
  port: string;
  key: string;
  connections: number;
  seconds: number;
  /** Pulls the policy of an agent with If-None-Match instead of sending events. */
  pull?: { agent: string; etag: string };
  /** Events of a request, as one batch. Without it a request is one event. */
  batch?: number;
  /** Runs against its own server first, so that its code is compiled, prints a line, and begins at the first byte of its input. */
  rehearses?: boolean;
};

const given = JSON.parse(process.argv[2] ?? '{}') as LoadArguments;
const { host, port, key, connections, pull, batch } = given;
const REHEARSAL_MS = 2000;
const GOOD = pull === undefined ? '202' : '304';
const latencies: number[] = [];
const statuses: Record<string, number> = {};

const EVENT_ID_MARK = '00000000-0000-4000-8000-000000000000';
const TIME_MARK = '2026-01-01T00:00:00.000Z';
const event = JSON.stringify({
  event_id: EVENT_ID_MARK,
  occurred_at: TIME_MARK,
  agent_name: 'bench-agent',
  tool_name: 'send_refund',
  outcome: 'needs_approval',
  role: 'editor',
  error_type: '',
  reason: 'Refunds above 1000 need approval.',
  violations: ['refund-limit: Refunds above 1000 need approval.'],
  hint: { max: 1000 },
  arguments: {
    order: 'A-10293',
    amount: 1250,
    currency: 'EUR',
    note: 'The customer says that the parcel never arrived.',
  },
  user_id: 'user-4711',
  session_id: 'session-0815',
});
const body = batch === undefined ? event : `${event}\n`.repeat(batch);
const [path, type] = batch === undefined ? ['', 'json'] : ['/batch', 'x-ndjson'];
const post =
  `POST /v1/audit/decisions${path} HTTP/1.1\r\nHost: ${host}:${port}\r\nAuthorization: Bearer ${key}\r\n` +
  `Content-Type: application/${type}\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
const get = `GET /v1/agents/${pull?.agent} HTTP/1.1\r\nHost: ${host}:${port}\r\nAuthorization: Bearer ${key}\r\nIf-None-Match: ${pull?.etag}\r\n\r\n`;
const template = Buffer.from(pull === undefined ? post : get);
const idsAt = placesOf(EVENT_ID_MARK);
const timesAt = placesOf(TIME_MARK);

function placesOf(mark: string): number[] {
  const places: number[] = [];
  for (let at = template.indexOf(mark); at >= 0; at = template.indexOf(mark, at + 1)) places.push(at);
  return places;
}

/** New event_ids for each request. The times of a batch are those of its first request: writing them costs the same. */
function nextRequest(request: Buffer, isFirst: boolean): void {
  if (idsAt.length === 0) return;
  const hex = randomBytes(16 * idsAt.length).toString('hex');
  idsAt.forEach((at, index) => {
    const h = hex.slice(32 * index, 32 * index + 32);
    request.write(
      `${h.slice(0, 8)}-${h.slice(8, 12)}-4${h.slice(13, 16)}-8${h.slice(17, 20)}-${h.slice(20)}`,
      at,
      'latin1',
    );
  });
  if (batch !== undefined && !isFirst) return;
  const now = new Date().toISOString();
  for (const at of timesAt) request.write(now, at, 'latin1');
}

function run(to: number, endMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = Buffer.from(template);
    const socket: Socket = connect(to, host);
    let sentMs = 0;
    let isFirst = true;
    let answer = '';
    const send = () => {
      nextRequest(request, isFirst);
      isFirst = false;
      sentMs = performance.now();
      socket.write(request);
    };
    socket.setNoDelay(true).setEncoding('latin1');
    socket.on('connect', send).on('error', reject);
    socket.on('data', (chunk: string) => {
      answer += chunk;
      const headEnd = answer.indexOf('\r\n\r\n');
      if (headEnd < 0) return;
      const length = Number(/content-length: (\d+)/i.exec(answer)?.[1] ?? 0);
      if (answer.length < headEnd + 4 + length) return;
      const nowMs = performance.now();
      const status = answer.slice(9, 12);
      // A refusal is quick: included in the times, it would make a service that refuses look fast.
      if (status === GOOD) latencies.push(nowMs - sentMs);
      statuses[status] = (statuses[status] ?? 0) + 1;
      answer = '';
      if (nowMs < endMs) return send();
      socket.end();
      resolve();
    });
  });
}

async function runAll(to: number, runMs: number): Promise<void> {
  const endMs = performance.now() + runMs;
  await Promise.all(Array.from({ length: connections }, () => run(to, endMs)));
}

async function rehearse(): Promise<void> {
  const answer = `HTTP/1.1 ${GOOD} Good\r\nContent-Length: 2\r\n\r\n{}`;
  const server = createServer((socket) => socket.on('data', () => socket.write(answer)));
  await once(server.listen(0, host), 'listening');
  await runAll((server.address() as AddressInfo).port, REHEARSAL_MS);
  server.close();
  latencies.length = 0;
  delete statuses[GOOD];
  process.stdout.write('\n');
  await once(process.stdin, 'data');
  process.stdin.destroy();
}

if (given.rehearses === true) await rehearse();
const startMs = performance.now();
await runAll(Number(port), given.seconds * 1000);
const seconds = (performance.now() - startMs) / 1000;
latencies.sort((a, b) => a - b);
const quantile = (q: number) =>
  latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * q))] ?? 0;
const accepted = (statuses[GOOD] ?? 0) * (batch ?? 1);
process.stdout.write(
  JSON.stringify({
    accepted,
    statuses,
    perSecond: accepted / seconds,
    p50: quantile(0.5),
    p99: quantile(0.99),
  }),
);
