import { Gateway, type GatewayParts } from './gateway.ts';
import { RemoteServer } from './http.ts';
import { readLines, writerTo } from './lines.ts';
import type { RemoteAddress } from './session.ts';

/** Connects standard input and output to a server over Streamable HTTP until the input ends. Resolves with the exit code. */
export async function serveHttp(address: RemoteAddress, parts: GatewayParts): Promise<number> {
  const { stdin } = process;
  const toClient = writerTo(process.stdout, {
    isPaused: () => stdin.isPaused(),
    pause: () => [stdin, remote].forEach((source) => source.pause()),
    resume: () => [stdin, remote].forEach((source) => source.resume()),
  });
  const remote = new RemoteServer({
    ...address,
    logger: parts.logger,
    onMessage: (line) => gateway.fromServer(Buffer.from(line)),
  });
  const toServer = (line: Buffer | string): void => remote.send(line.toString());
  const gateway = new Gateway({ ...parts, toClient, toServer });
  process.stdout.on('error', () => stdin.destroy());
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stdin.destroy());
  try {
    await readLines(stdin, (line) => gateway.fromClient(line));
    return 0;
  } finally {
    await gateway.end();
    await remote.close();
  }
}
