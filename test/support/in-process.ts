// Calls a function of a module in a separate process, because one process holds one embedded store. node in-process.ts <module> <function>
// <argument as JSON> prints the function's result as JSON.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const OUTPUT_BYTES_MAX = 64 * 1024 * 1024;

export async function inProcess<T>(module: URL, name: string, argument: unknown): Promise<T> {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [import.meta.filename, module.href, name, JSON.stringify(argument)],
    // The same setting as in the service: every running statement has a thread of the process.
    { maxBuffer: OUTPUT_BYTES_MAX, env: { ...process.env, UV_THREADPOOL_SIZE: '32' } },
  );
  return JSON.parse(stdout) as T;
}

async function answer([, , module = '', name = '', argument = 'null']: string[]): Promise<void> {
  const functions = (await import(module)) as Record<string, (argument: unknown) => unknown>;
  const result = JSON.stringify(await functions[name]?.(JSON.parse(argument)));
  process.stdout.write(result, () => process.exit());
}

// Not awaited here: the module may import this one.
if (process.argv[1] === import.meta.filename) void answer(process.argv);
