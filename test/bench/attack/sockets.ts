import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { gaugesOf } from './attacker.ts';
import { measureAttacks, type Target } from './measure.ts';

const SOCKETS = 500;
const HALF_HEAD = 'POST /v1/auth/login HTTP/1.1\r\nHost: x\r\n';
const HALF_BODY = `${HALF_HEAD}Content-Type: application/json\r\nContent-Length: 500\r\n\r\n{`;
const NO_HTTP = 'HELLO\r\n\r\n';
/** After the longest time that a request may take to arrive. */
const GONE_AFTER_MS = 35_000;

/** Callers who begin a request, keep their side open whatever the answer, and reconnect when they lose the connection. */
export function benchSocketAttacks({ seconds }: { seconds: number }): Promise<void> {
  return measureAttacks({ [`${SOCKETS} sockets held open`]: hold }, { seconds });
}

async function hold(target: Target, seconds: number): Promise<string> {
  const before = (await gaugesOf(target)).files;
  const bytes = [HALF_HEAD, HALF_BODY, NO_HTTP, ''];
  const sockets = Array.from({ length: SOCKETS }, (_, index) =>
    open(target, bytes[index % bytes.length] ?? ''),
  );
  await sleep(seconds * 1000);
  const during = (await gaugesOf(target)).files;
  await sleep(Math.max(0, GONE_AFTER_MS - seconds * 1000));
  const after = (await gaugesOf(target)).files;
  for (const socket of sockets) socket.destroy();
  return `open files: ${before} before, ${during} during, ${after} after 35 s`;
}

/** The caller never ends its side. */
function open({ url }: Target, bytes: string): Socket {
  const socket = connect({ host: url.hostname, port: Number(url.port), allowHalfOpen: true });
  socket.on('error', () => undefined).on('data', () => undefined);
  if (bytes !== '') socket.write(bytes);
  return socket;
}
