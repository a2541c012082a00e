import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

/** The mock's behaviour for one request; contract cases define it as data. */
export type Reply = {
  status?: number;
  headers?: Record<string, string>;
  json?: unknown;
  text?: string;
  delay_ms?: number;
  fault?: 'hang' | 'reset' | 'reset_mid_body' | 'cut_mid_body' | 'torn_json' | 'slow_body';
};

export type SeenRequest = {
  method: string;
  path: string;
  headers: Record<string, string | string[] | undefined>;
  text: string;
  at: number;
};

export type MockServer = {
  url: string;
  requests: SeenRequest[];
  /** The replies of a route in their order; the last one repeats. A function decides per request. */
  on(route: string, ...replies: (Reply | ((request: SeenRequest) => Reply | Promise<Reply>))[]): void;
  seen(route: string): SeenRequest[];
  /** Resolves when this many requests of the route have arrived. */
  arrived(route: string, count: number): Promise<void>;
  connections(): number;
  closeIdleConnections(): void;
  close(): Promise<void>;
};

const RESET_AFTER_MS = 30;

/** In this process only: the client trusts the keys of an address for good, so no second server may have the address. */
const portsTaken = new Set<number>();

/** A real HTTP server on a real socket, by default on a free port, that answers or misbehaves as it is told. */
export async function startMockServer({ port = 0 }: { port?: number } = {}): Promise<MockServer> {
  const routes = new Map<string, Parameters<MockServer['on']>[1][]>();
  const requests: SeenRequest[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((request, response) => {
    void serve(request, response);
  });
  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const seen = seenFrom(request, await readText(request));
    requests.push(seen);
    server.emit('seen');
    const replies = routes.get(`${seen.method} ${seen.path}`) ?? [
      { status: 404, json: { code: 'not_found' } },
    ];
    const reply = replies.length > 1 ? replies.shift() : replies[0];
    answer(response, typeof reply === 'function' ? await reply(seen) : (reply ?? {}));
  }
  // As a proxy, it opens no connection and records the requested targets.
  server.on('connect', (request, socket) => {
    requests.push(seenFrom(request, ''));
    socket.destroy();
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await listen(server, port);
  const seen = (route: string): SeenRequest[] => requests.filter((r) => `${r.method} ${r.path}` === route);
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    on: (route, ...replies) => void routes.set(route, [...replies]),
    seen,
    arrived: async (route, count) => {
      while (seen(route).length < count) await once(server, 'seen');
    },
    connections: () => sockets.size,
    closeIdleConnections: () => server.closeIdleConnections(),
    close: async () => {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, 'close');
    },
  };
}

async function listen(server: Server, port: number): Promise<void> {
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const { port: taken } = server.address() as AddressInfo;
  if (port === 0 && portsTaken.has(taken)) {
    server.close();
    await once(server, 'close');
    await listen(server, port);
  }
  portsTaken.add(taken);
}

async function readText(request: IncomingMessage): Promise<string> {
  let text = '';
  try {
    for await (const chunk of request.setEncoding('utf8')) text += String(chunk);
  } catch {
    // The client disconnected during its own request; what arrived of it is recorded.
  }
  return text;
}

function seenFrom(request: IncomingMessage, text: string): SeenRequest {
  return {
    method: request.method ?? '',
    path: request.url ?? '',
    headers: request.headers,
    text,
    at: Date.now(),
  };
}

function answer(response: ServerResponse, reply: Reply): void {
  if (reply.fault === 'hang') return;
  if (reply.delay_ms !== undefined) {
    const { delay_ms, ...rest } = reply;
    setTimeout(() => answer(response, rest), delay_ms).unref();
    return;
  }
  if (reply.fault === 'reset') {
    response.socket?.resetAndDestroy();
    return;
  }
  const text = reply.text ?? (reply.json === undefined ? '' : JSON.stringify(reply.json));
  const type = reply.json === undefined ? {} : { 'Content-Type': 'application/json' };
  write(response, { ...reply, headers: { ...type, ...reply.headers }, text });
}

function write(response: ServerResponse, { status = 200, headers = {}, text = '', fault }: Reply): void {
  if (fault === 'torn_json') {
    response.writeHead(status, headers).end('{"torn": ');
    return;
  }
  if (fault === undefined) {
    response.writeHead(status, headers).end(status === 304 ? undefined : text);
    return;
  }
  // A body that is announced but never completed: cut off immediately, or left hanging.
  response.writeHead(status, { ...headers, 'Content-Length': '1000' });
  response.write('{"half": ');
  // Not immediately, because a reset discards unread data, and the headers must arrive.
  if (fault === 'reset_mid_body') setTimeout(() => response.socket?.resetAndDestroy(), RESET_AFTER_MS);
  if (fault === 'cut_mid_body') setTimeout(() => response.socket?.destroy(), RESET_AFTER_MS);
}
