import { once } from 'node:events';
import { createServer } from 'node:http';
import { Readable } from 'node:stream';
import { listen } from './listen.ts';

export function* endlessBytes(): Generator<Buffer> {
  for (;;) yield Buffer.alloc(64 * 1024, 'x');
}

/** Serves the audit trail of one project from memory, like a Gatehouse, and lists the requested paths. */
export async function startLogServer(projectId: string) {
  const files = new Map<string, Buffer>();
  const requests: string[] = [];
  const failing = new Set<string>();
  const endless = new Set<string>();
  const authorizations = new Set<string | undefined>();
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? '', 'http://localhost').pathname.replace(
      `/v1/projects/${projectId}/`,
      '',
    );
    requests.push(path);
    authorizations.add(request.headers.authorization);
    const bytes = files.get(path);
    if (endless.has(path)) Readable.from(endlessBytes()).pipe(response);
    else response.writeHead(failing.has(path) ? 500 : bytes === undefined ? 404 : 200).end(bytes);
  });
  return {
    url: `http://127.0.0.1:${await listen(server)}`,
    requests,
    /** Paths that are answered with 500. */
    failing,
    /** Paths whose answers do not end. */
    endless,
    authorizations,
    /** Replaces everything below `log/`. */
    serveLog(log: ReadonlyMap<string, Buffer>): void {
      for (const path of files.keys()) if (path.startsWith('log/')) files.delete(path);
      for (const [path, bytes] of log) files.set(`log/${path}`, bytes);
    },
    serve(path: string, bytes: Buffer): void {
      files.set(path, bytes);
    },
    async close(): Promise<void> {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
