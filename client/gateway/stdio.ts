import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';
import { messageOf } from '../errors.ts';
import { Gateway, type GatewayParts } from './gateway.ts';
import { readLines, writerTo } from './lines.ts';

/** A server that speaks over standard input and output. */
export type ServerCommand = { command: string; args: readonly string[] };

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** How long a server may take to end after the end of its input, and again after SIGTERM. */
const END_MS = 2_000;

/** Starts the server and connects it to standard input and output until it ends. Resolves with its exit code. */
export async function serveStdio({ command, args }: ServerCommand, parts: GatewayParts): Promise<number> {
  const server = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const exited = once(server, 'close') as Promise<[code: number | null, signal: NodeJS.Signals | null]>;
  const { stdin, stdout } = process;
  const gateway = new Gateway({
    ...parts,
    toClient: writerTo(stdout, server.stdout),
    toServer: writerTo(server.stdin, stdin),
  });
  const end = (): void => endServer(server);
  // When one side stops reading, the other ends.
  server.stdin.on('error', () => undefined);
  stdout.on('error', end);
  for (const signal of SIGNALS) process.on(signal, () => server.kill(signal));
  const endOfClient = (): Promise<void> => gateway.end().then(end);
  readLines(stdin, (line) => gateway.fromClient(line)).then(endOfClient, endOfClient);
  const answered = readLines(server.stdout, (line) => gateway.fromServer(line));
  try {
    const [code, signal] = await exited;
    await answered;
    return code ?? 128 + constants.signals[signal ?? 'SIGTERM'];
  } catch (error) {
    parts.logger.error(`The server ${command} cannot be run: ${messageOf(error)}`);
    return 1;
  }
}

/** Closes the server's input, and kills the server if it does not end. */
export function endServer(server: ChildProcess): void {
  server.stdin?.end();
  const timers = [
    setTimeout(() => server.kill('SIGTERM'), END_MS),
    setTimeout(() => server.kill('SIGKILL'), 2 * END_MS),
  ];
  server.once('close', () => timers.forEach(clearTimeout));
}
