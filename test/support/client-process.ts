import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { text } from 'node:stream/consumers';
import { NODE_ENVIRONMENT } from './environment.ts';

export type ClientProcess = {
  code: number | null;
  stdout: string;
  stderr: string;
  /** The values that the program reported, one per line. */
  reports: unknown[];
  tookMs: number;
};

const FIXTURES = new URL('../unit/client/fixtures/', import.meta.url);

/** A program in a file of test/unit/client/fixtures. `env` is its whole environment; the signal kills it. */
type Program = { file: string; name: string; env?: Record<string, string>; signal?: AbortSignal };

/** Runs a program that uses the client in a separate process. */
export async function runClientProcess({ file, name, env, signal }: Program): Promise<ClientProcess> {
  const startedAtMs = Date.now();
  const child = spawn(process.execPath, [fileURLToPath(new URL(file, FIXTURES)), name], {
    env: { ...NODE_ENVIRONMENT, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  signal?.addEventListener('abort', () => child.kill());
  const closed = once(child, 'close');
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), closed]);
  const lines = stdout.split('\n').filter((line) => line !== '');
  const reports = lines.map((line) => JSON.parse(line) as unknown);
  return { code: child.exitCode, stdout, stderr, reports, tookMs: Date.now() - startedAtMs };
}

/** Returns a function that runs a program of fixtures/emitting.ts against a server. */
export function emittersTo(server: { url: string }) {
  return (name: string, env: Record<string, string> = {}, signal?: AbortSignal): Promise<ClientProcess> =>
    runClientProcess({
      file: 'emitting.ts',
      name,
      env: { GATE_BASE_URL: server.url, ...env },
      ...(signal && { signal }),
    });
}

/** 50 µs or, on a slow or busy machine, three times the yardstick at the same percentile in the same loop. */
export function callMicrosecondsMax(yardstick: number): number {
  return Math.max(50, 3 * yardstick);
}
