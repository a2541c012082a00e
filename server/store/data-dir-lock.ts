import { realpathSync, rmSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sha256Hex } from '../sha256.ts';

/** Releases the lock. The system releases it, too, when the process ends. */
export type Release = () => void;

/**
 * Locks the data directory for this process. Undefined if another process has it. The engine's own lock only prints to standard error. This
 * one is a socket named after the directory, which ends with its process even after kill -9: on Linux an abstract socket, elsewhere a file
 * that nobody answers after a crash.
 */
export async function lockDataDir(dataDir: string): Promise<Release | undefined> {
  const name = `gatehouse-${sha256Hex(realpathSync(dataDir)).slice(0, 32)}`;
  if (process.platform === 'linux') return listenOn(`\0${name}`);
  const path = join(tmpdir(), `${name}.sock`);
  if (await isAnswered(path)) return undefined;
  rmSync(path, { force: true });
  return listenOn(path);
}

function listenOn(path: string): Promise<Release | undefined> {
  return new Promise((resolve, reject) => {
    const server: Server = createServer((socket) => socket.destroy());
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve(undefined);
      else reject(error);
    });
    server.listen(path, () => {
      server.unref();
      resolve(() => void server.close());
    });
  });
}

function isAnswered(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path, () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
