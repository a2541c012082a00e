import { spawn } from 'node:child_process';
import { once } from 'node:events';

export type CommandResult = { code: number | null; output: string };

/** Runs a command to its end; what it said, on either stream, comes back in one text. */
export async function runCommand(
  command: string,
  args: string[],
  { cwd, env = {} }: { cwd: string; env?: Record<string, string> },
): Promise<CommandResult> {
  const options = { cwd, env: { ...process.env, ...env } };
  const child = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => (output += chunk));
  }
  await once(child, 'close');
  return { code: child.exitCode, output };
}
