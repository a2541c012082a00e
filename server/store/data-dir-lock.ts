import { realpathSync, rmSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sha256Hex } from '../sha256.ts';

/** Lets go of the lock. The system does so, too, when the process ends in any way. */
export type Release = () => void;

/**
 * Takes the data directory for this process; undefined when another one has it.
 *
 * The engine has a lock of its own, but says so only on standard error and in its own words. This one is a socket by
 * the directory's name, which goes with its process even after kill -9: on Linux an abstract one, elsewhere a file
 * that a dead process leaves behind and that nobody answers.
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
