import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import { type AddressInfo, Server as NetServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { randomUUID } from 'node:crypto';
import type { Express } from 'express';
import type { Logger } from 'pino';
import { type ProblemCode, RequestError } from '../errors.ts';
import { type Connections, ConnectionTable, endConnection, isHandshaking } from './connections.ts';
import { createHttpServer } from './create-server.ts';
import { problemHeaders, problemText, sendProblem } from './problem.ts';
import { requestIdOf } from './request-id.ts';
import type { TlsFiles } from './tls.ts';

/** How long an idle connection stays open after the last one was accepted: a request may be on its way on it. */
const IDLE_GRACE_MS = 300;
/** After the stop begins, connections in the kernel's queue are accepted for this long, as long as there are any. */
const ACCEPT_GRACE_MS = 3000;
/** Requests that are still arriving by then get 503. */
const ARRIVAL_GRACE_MS = 4000;
/** Answers that are still being sent are cut then: their callers may never read them, and the rest of the stop needs time, too. */
const SENDING_GRACE_MS = 5000;
/** Connections with unfinished answers are closed then. */
const ANSWER_GRACE_MS = 8000;
const POLL_MS = 50;

export type Listening = { url: string; port: number; stop(): Promise<void> };

/** Listens. A stop resets no connection on which a request has begun: it is answered, or gets 503. */
export async function listen(
  app: Express,
  { host, port, tls }: { host: string; port: number; tls?: TlsFiles | undefined },
  logger?: Logger,
): Promise<Listening> {
  const refusals: Refusals = (line) => logger?.info(line, 'request');
  let isStopping = false;
  const server = createHttpServer(take, { app, tls, logger });
  function take(req: IncomingMessage, res: ServerResponse): void {
    table.track(res, () => {
      if (isStopping) sayLast(res);
      const fault = headFaultOf(req);
      if (fault === undefined) app(req, res);
      else refuse(req, res, { detail: fault, refusals });
    });
  }
  const table = new ConnectionTable(server);
  // The server may ignore any expectation other than 100-continue (RFC 9110 section 10.1.1).
  server.on('checkExpectation', take);
  // Send 100 Continue (RFC 9110 section 10.1.1) only once the body is about to be read, after the credential was checked.
  server.on('checkContinue', (req: IncomingMessage, res: ServerResponse) => {
    req.once('resume', () => {
      if (!res.headersSent) res.writeContinue();
    });
    take(req, res);
  });
  server.on('clientError', (error, socket: Socket) => {
    answerBrokenRequest(error, socket, { answers: table.connections.get(socket), refusals });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, host, () => resolve());
  });
  // Without a listener, an error such as too many open files would end the process.
  server
    .removeAllListeners('error')
    .on('error', (error) => logger?.error({ err: error }, 'A connection could not be accepted'));
  const { port: actualPort } = server.address() as AddressInfo;
  const stop = () => {
    isStopping = true;
    return stopServer(server, { connections: table.connections, refusals });
  };
  const scheme = tls === undefined ? 'http' : 'https';
  return {
    url: `${scheme}://${host.includes(':') ? `[${host}]` : host}:${actualPort}`,
    port: actualPort,
    stop,
  };
}

/** Faults that Node's parser accepts and no handler could answer. */
function headFaultOf({ httpVersion, headers, url = '' }: IncomingMessage): string | undefined {
  if (httpVersion === '1.1' && headers.host === undefined) return 'The request has no Host header';
  if (!URL.canParse(url, 'http://localhost')) return 'The request target is neither a path nor a URL';
  return undefined;
}

/** Logs an answer that did not come from a handler. */
type Refusals = (line: { req: { id: string }; res: { statusCode: number }; reason: string }) => void;

function refuse(
  req: IncomingMessage,
  res: ServerResponse,
  { detail, refusals }: { detail: string; refusals: Refusals },
): void {
  const id = requestIdOf(req);
  const error = new RequestError('request_invalid', detail);
  res.setHeader('X-Request-Id', id);
  sendProblem(res, error);
  refusals({ req: { id }, res: { statusCode: error.status }, reason: detail });
}

async function stopServer(
  server: Server,
  { connections, refusals }: { connections: Connections; refusals: Refusals },
): Promise<void> {
  const startMs = performance.now();
  const elapsedMs = () => performance.now() - startMs;
  await acceptWaiting(server);
  // Not http.Server.close, which cuts idle connections immediately: a request may be on its way on one.
  NetServer.prototype.close.call(server);
  for (const answers of connections.values()) for (const res of answers) sayLast(res);
  const idleEndMs = elapsedMs() + IDLE_GRACE_MS;
  while (connections.size > 0 && elapsedMs() < ANSWER_GRACE_MS) {
    // On a busy machine the process may not have run for longer than a grace: what arrived meanwhile is read before anything is closed.
    await new Promise(setImmediate);
    if (elapsedMs() > idleEndMs) server.closeIdleConnections();
    if (elapsedMs() > ARRIVAL_GRACE_MS) refuseHalfSent(connections, refusals);
    if (elapsedMs() > SENDING_GRACE_MS) cutUnread(connections);
    await sleep(POLL_MS);
  }
  server.closeAllConnections();
}

/** Closing resets the connections that the process has not accepted yet. It accepts one per turn of its loop. */
async function acceptWaiting(server: Server): Promise<void> {
  let isQuiet = false;
  const onConnection = () => void (isQuiet = false);
  server.on('connection', onConnection);
  for (const endMs = performance.now() + ACCEPT_GRACE_MS; !isQuiet && performance.now() < endMs;) {
    isQuiet = true;
    for (let turn = 0; turn < 2; turn += 1) await new Promise(setImmediate);
  }
  server.off('connection', onConnection);
}

/** Tells the caller to send no further requests on this connection. */
function sayLast(res: ServerResponse): void {
  if (!res.headersSent) res.setHeader('Connection', 'close');
}

/** Answers 503 to requests whose head or body is still arriving. */
function refuseHalfSent(connections: Connections, refusals: Refusals): void {
  const error = new RequestError('store_unavailable', 'The service is stopping');
  for (const [socket, answers] of connections) {
    if (isHandshaking(socket)) socket.destroy();
    else if (answers.size === 0) answerRaw(socket, error, { refusals });
    for (const res of answers) if (!res.req.complete && !res.headersSent) sendProblem(res, error);
  }
}

function cutUnread(connections: Connections): void {
  for (const [socket, answers] of connections)
    if (answers.values().some((res) => res.headersSent)) socket.destroy();
}

const BROKEN: Record<string, [ProblemCode, string]> = {
  HPE_HEADER_OVERFLOW: ['headers_too_large', 'The request line and the headers have more than 64 KiB'],
  ERR_HTTP_REQUEST_TIMEOUT: ['request_timeout', 'The request did not arrive in time'],
};

/** A request that is not HTTP, or arrives too slowly, reaches no handler: its answer is written here. */
function answerBrokenRequest(
  error: NodeJS.ErrnoException,
  socket: Socket,
  { answers, refusals }: { answers: Set<ServerResponse> | undefined; refusals: Refusals },
): void {
  const [code, detail] =
    BROKEN[error.code ?? ''] ?? (['request_invalid', 'The request is not valid HTTP'] as const);
  // A request that breaks in its body already has an id.
  const unfinished = answers?.values().find(({ req }) => !req.complete);
  const id = unfinished?.getHeader('X-Request-Id')?.toString();
  answerRaw(socket, new RequestError(code, detail), { id, refusals });
}

function answerRaw(
  socket: Socket,
  error: RequestError,
  { id = randomUUID(), refusals }: { id?: string | undefined; refusals: Refusals },
): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const body = problemText(error);
  const headers = {
    ...problemHeaders(error),
    'Content-Length': String(Buffer.byteLength(body)),
    'X-Request-Id': id,
    Connection: 'close',
  };
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  endConnection(
    socket,
    `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}\r\n${head.join('')}\r\n${body}`,
  );
  refusals({ req: { id }, res: { statusCode: error.status }, reason: error.message });
}
