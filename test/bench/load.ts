// A closed-loop load generator in a process of its own: each connection sends its next event when the last was answered.
// Raw sockets and one prepared body, so that it costs as little as it can of the two cores it shares with the server.
// node load.ts <host> <port> <key> <connections> <seconds> [<agent> <etag>] → one line of JSON
// With an agent it pulls that agent's policy with If-None-Match instead of sending events.
import { randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';

const [host = '', port = '', key = '', connectionsText = '', secondsText = '', agent, etag = ''] =
  process.argv.slice(2);
const connections = Number(connectionsText);
const endMs = performance.now() + Number(secondsText) * 1000;
const GOOD = agent === undefined ? '202' : '304';
const latencies: number[] = [];
const statuses: Record<string, number> = {};

const EVENT_ID_MARK = '00000000-0000-4000-8000-000000000000';
const TIME_MARK = '2026-01-01T00:00:00.000Z';
const body = JSON.stringify({
  event_id: EVENT_ID_MARK,
  occurred_at: TIME_MARK,
  agent_name: 'support-bot',
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
const head =
  `POST /v1/audit/decisions HTTP/1.1\r\nHost: ${host}:${port}\r\nAuthorization: Bearer ${key}\r\n` +
  `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
const pull = `GET /v1/agents/${agent} HTTP/1.1\r\nHost: ${host}:${port}\r\nAuthorization: Bearer ${key}\r\nIf-None-Match: ${etag}\r\n\r\n`;
const template = Buffer.from(agent === undefined ? head + body : pull);
const idAt = template.indexOf(EVENT_ID_MARK);
const timeAt = template.indexOf(TIME_MARK);

function nextRequest(request: Buffer): void {
  if (idAt < 0) return;
  const hex = randomBytes(16).toString('hex');
  request.write(
    `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}`,
    idAt,
    'latin1',
  );
  request.write(new Date().toISOString(), timeAt, 'latin1');
}

function run(): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = Buffer.from(template);
    const socket: Socket = connect(Number(port), host);
    let sentMs = 0;
    let answer = '';
    const send = () => {
      nextRequest(request);
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
      // A refusal is quick: among the times it would make a service that refuses look fast.
      if (status === GOOD) latencies.push(nowMs - sentMs);
      statuses[status] = (statuses[status] ?? 0) + 1;
      answer = '';
      if (nowMs < endMs) return send();
      socket.end();
      resolve();
    });
  });
}

const startMs = performance.now();
await Promise.all(Array.from({ length: connections }, run));
const seconds = (performance.now() - startMs) / 1000;
latencies.sort((a, b) => a - b);
const quantile = (q: number) =>
  latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * q))] ?? 0;
const accepted = statuses[GOOD] ?? 0;
process.stdout.write(
  JSON.stringify({
    accepted,
    statuses,
    perSecond: accepted / seconds,
    p50: quantile(0.5),
    p99: quantile(0.99),
  }),
);
