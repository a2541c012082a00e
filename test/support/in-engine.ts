import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { temporaryDirectory } from './service.ts';

const ROOT = new URL('../../', import.meta.url).pathname;

/**
 * Runs `body` with `open()`, which connects to a new embedded engine, and `input`; resolves with what it returns. In a
 * process of its own, because one process holds one data directory.
 */
export async function inEngine<T>(body: string, input: unknown): Promise<T> {
  const script = `
    import { connectEmbedded } from './server/store/connection.ts';
    const [path, input] = [process.argv[1], JSON.parse(process.argv[2])];
    const open = () => connectEmbedded(path, {});
    console.log(JSON.stringify(await (async () => { ${body} })()));
    process.exit();`;
  const args = [
    '--input-type=module-typescript',
    '--eval',
    script,
    temporaryDirectory(),
    JSON.stringify(input),
  ];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: ROOT });
  return JSON.parse(stdout) as T;
}
