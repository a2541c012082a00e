import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';

/** Starts to listen on 127.0.0.1, by default on a free port, and resolves with the port. */
export async function listen(server: Server, port = 0): Promise<number> {
  await once(server.listen(port, '127.0.0.1'), 'listening');
  return (server.address() as AddressInfo).port;
}

/** A port that is free now, for a server whose address must be known before it starts. */
export async function freePort(): Promise<number> {
  const server = createServer();
  const port = await listen(server);
  server.close();
  await once(server, 'close');
  return port;
}
