import { spawn } from 'node:child_process';
import { once } from 'node:events';

export type ClientProcess = { code: number | null; stdout: string; stderr: string; tookMs: number };

const CLIENT = new URL('../../client/index.ts', import.meta.url).href;

/**
 * Runs a program that uses the client in a process of its own: for what ends a process, and for what blocks
 * one. The names of the client's exports are in scope; `env` is all it has of the environment.
 */
export async function runClientProcess(
  program: string,
  env: Record<string, string> = {},
): Promise<ClientProcess> {
  const source = `import * as client from ${JSON.stringify(CLIENT)};\n${program}`;
  const startedAtMs = Date.now();
  const child = spawn(process.execPath, ['--input-type=module', '--eval', source], {
    env: { PATH: process.env.PATH ?? '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const texts = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (texts.stdout += chunk));
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (texts.stderr += chunk));
  await once(child, 'close');
  return { code: child.exitCode, ...texts, tookMs: Date.now() - startedAtMs };
}
