import { createServer, IncomingMessage, type RequestListener, type Server, ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Express } from 'express';
import type { Logger } from 'pino';
import { HEAD_BYTES_MAX, HEADERS_ARRIVAL_MS_MAX, REQUEST_ARRIVAL_MS_MAX } from '../limits.ts';
import { followTlsFiles, readTls, type TlsFiles } from './tls.ts';

/** How often Node looks for requests that arrive too slowly. */
const ARRIVAL_CHECK_MS = 1000;
const KEEP_ALIVE_MS = 65_000;

type ServerOptions = { app: Express; tls: TlsFiles | undefined; logger: Logger | undefined };

/** A server that does not listen yet: of HTTPS if there are TLS files, else of HTTP. Throws for files that do not match. */
export function createHttpServer(take: RequestListener, { app, tls, logger }: ServerOptions): Server {
  const options = {
    maxHeaderSize: HEAD_BYTES_MAX,
    requestTimeout: REQUEST_ARRIVAL_MS_MAX,
    headersTimeout: HEADERS_ARRIVAL_MS_MAX,
    connectionsCheckingInterval: ARRIVAL_CHECK_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    // Node's own answer would not be a problem document and would have no id.
    requireHostHeader: false,
    IncomingMessage: withPrototype(IncomingMessage, app.request),
    ServerResponse: withPrototype(ServerResponse, app.response),
  };
  if (tls === undefined) return createServer(options, take);
  const inUse = readTls(tls);
  const server = createTlsServer({ ...options, ...inUse, handshakeTimeout: HEADERS_ARRIVAL_MS_MAX }, take);
  server.on('close', followTlsFiles(server, { files: tls, inUse, logger }));
  return server;
}

/**
 * A class of node:http whose instances have the application's prototype from the start. Express sets it on every request, and changing a
 * prototype is slow: this saves an eighth of the processor time of an ingest request.
 */
function withPrototype<C extends typeof IncomingMessage | typeof ServerResponse>(
  base: C,
  prototype: object,
): C {
  function Instance(...args: unknown[]): object {
    return Reflect.construct(base, args, Instance) as object;
  }
  Instance.prototype = prototype;
  return Instance as unknown as C;
}
