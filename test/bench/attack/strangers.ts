// Callers without a credential, in a process of their own.
// node strangers.ts <host> <port> <options as JSON>
import { randomUUID } from 'node:crypto';
import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

/** `perSecond` 0 is a closed loop: each connection sends its next request when the last was answered. */
export type StrangersOptions = {
  kinds: ('login' | 'forgot' | 'register' | 'taken')[];
  connections: number;
  perSecond: number;
  addresses: number;
  seconds: number;
};

const [hostname = '', port = '', options = ''] = process.argv.slice(2);
const { kinds, connections, perSecond, addresses, seconds } = JSON.parse(options) as StrangersOptions;
const endMs = performance.now() + seconds * 1000;
const agent = new Agent({ keepAlive: true, maxSockets: connections });
const statuses: Record<string, number> = {};
const password = 'not the right password';
let sent = 0;

function bodyOf(kind: StrangersOptions['kinds'][number]): { path: string; body: object } {
  const email = `${randomUUID()}@example.com`;
  if (kind === 'login') return { path: '/v1/auth/login', body: { email, password } };
  if (kind === 'forgot') return { path: '/v1/auth/forgot-password', body: { email } };
  if (kind === 'taken') return { path: '/v1/auth/register', body: { email: 'right@example.com', password } };
  return { path: '/v1/auth/register', body: { email, password } };
}

function send(): Promise<void> {
  sent += 1;
  const kind = kinds[sent % kinds.length] ?? 'login';
  const { path, body } = bodyOf(kind);
  const address = `203.0.113.${(sent % addresses) + 1}`;
  const headers = { 'Content-Type': 'application/json', 'X-Forwarded-For': address };
  return new Promise((resolve) => {
    const call = request({ hostname, port, path, method: 'POST', headers, agent }, (response) => {
      const key = `${kind} ${response.statusCode}`;
      statuses[key] = (statuses[key] ?? 0) + 1;
      response.resume().on('end', resolve);
    });
    call.on('error', () => {
      statuses['no answer'] = (statuses['no answer'] ?? 0) + 1;
      resolve();
    });
    call.end(JSON.stringify(body));
  });
}

if (perSecond > 0) {
  while (performance.now() < endMs) {
    void send();
    await sleep(1000 / perSecond);
  }
} else {
  const loop = async () => {
    while (performance.now() < endMs) await send();
  };
  await Promise.all(Array.from({ length: connections }, loop));
}
process.stdout.write(
  Object.entries(statuses)
    .map(([status, count]) => `${status}: ${count}`)
    .join(', '),
);
process.exit(0);
