import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import { type AddressInfo, Server as NetServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { randomUUID } from 'node:crypto';
import { type ProblemCode, RequestError } from '../errors.ts';
import { HEADERS_ARRIVAL_MS_MAX, REQUEST_ARRIVAL_MS_MAX } from '../limits.ts';
import { problemHeaders, problemText } from './problem.ts';

/** How long an idle connection stays open after the stop began: a request may be on its way on it. */
const IDLE_GRACE_MS = 300;
/** Requests that are still arriving by then get 503. */
const ARRIVAL_GRACE_MS = 4000;
/** Answers still being made by then are cut off. */
const ANSWER_GRACE_MS = 8000;
const POLL_MS = 50;

export type Listening = { url: string; port: number; stop(): Promise<void> };

/** Listens, and stops without a reset for anyone who had begun to send: their request is answered, or gets 503. */
export async function listen(
  listener: RequestListener,
  { host, port }: { host: string; port: number },
): Promise<Listening> {
  const connections = new Map<Socket, number>();
  let isStopping = false;
  const server = createServer(
    {
      requestTimeout: REQUEST_ARRIVAL_MS_MAX,
      headersTimeout: HEADERS_ARRIVAL_MS_MAX,
      keepAliveTimeout: 65_000,
    },
    (req, res) => {
      track(connections, req, res);
      if (isStopping) res.setHeader('Connection', 'close');
      listener(req, res);
    },
  );
  server.on('connection', (socket) => {
    connections.set(socket, 0);
    socket.on('close', () => connections.delete(socket));
  });
  server.on('clientError', answerBrokenRequest);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, host, () => resolve());
  });
  const { port: actualPort } = server.address() as AddressInfo;
  const stop = () => {
    isStopping = true;
    return stopServer(server, connections);
  };
  return { url: `http://${host.includes(':') ? `[${host}]` : host}:${actualPort}`, port: actualPort, stop };
}

/** Counts the requests of each connection that are not answered yet. */
function track(connections: Map<Socket, number>, req: IncomingMessage, res: ServerResponse): void {
  const { socket } = req;
  connections.set(socket, (connections.get(socket) ?? 0) + 1);
  res.on('close', () => {
    const open = connections.get(socket);
    if (open !== undefined) connections.set(socket, open - 1);
  });
}

async function stopServer(server: Server, connections: Map<Socket, number>): Promise<void> {
  // By hand: http.Server.close would cut idle connections at once, with a request perhaps on its way on them.
  NetServer.prototype.close.call(server);
  const startMs = performance.now();
  const elapsedMs = () => performance.now() - startMs;
  await sleep(IDLE_GRACE_MS);
  while (connections.size > 0 && elapsedMs() < ANSWER_GRACE_MS) {
    server.closeIdleConnections();
    if (elapsedMs() > ARRIVAL_GRACE_MS) {
      for (const [socket, open] of connections)
        if (open === 0) answerRaw(socket, 'store_unavailable', 'The service is stopping');
    }
    await sleep(POLL_MS);
  }
  server.closeAllConnections();
}

const BROKEN: Record<string, [ProblemCode, string]> = {
  HPE_HEADER_OVERFLOW: ['headers_too_large', 'The headers have more than 16 KiB'],
  ERR_HTTP_REQUEST_TIMEOUT: ['request_timeout', 'The request did not arrive in time'],
};

/** What is not HTTP, or takes too long, never reaches a handler: its answer is written by hand. */
function answerBrokenRequest(error: NodeJS.ErrnoException, socket: Socket): void {
  const [code, detail] =
    BROKEN[error.code ?? ''] ?? (['request_invalid', 'The request is not valid HTTP'] as const);
  answerRaw(socket, code, detail);
}

function answerRaw(socket: Socket, code: ProblemCode, detail: string): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const error = new RequestError(code, detail);
  const body = problemText(error);
  const headers = {
    ...problemHeaders(error),
    'Content-Length': String(Buffer.byteLength(body)),
    'X-Request-Id': randomUUID(),
    Connection: 'close',
  };
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${error.status} ${code}\r\n${head.join('')}\r\n${body}`);
}
