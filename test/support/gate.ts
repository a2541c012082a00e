import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { storeEnvironment } from './clickhouse-server/environment.ts';
import { temporaryDirectory } from './service.ts';

const ROOT = new URL('../../', import.meta.url).pathname;
const run = promisify(execFile);

export type IssuedKey = { project_id: string; key_id: string; key: string };

/** Runs the command line (`npm run gate -- …`) on a data directory and resolves with the JSON it prints. */
export async function gate<T>(dataDir: string, ...args: string[]): Promise<T> {
  const { stdout } = await run(process.execPath, ['server/cli/main.ts', ...args, '--json'], {
    cwd: ROOT,
    env: { PATH: process.env['PATH'], GATE_DATA_DIR: dataDir, ...storeEnvironment(dataDir) },
  });
  return JSON.parse(stdout) as T;
}

export function issueKey(dataDir: string, projectId: string, ...more: string[]): Promise<IssuedKey> {
  return gate<IssuedKey>(dataDir, 'key', 'issue', '--project', projectId, ...more);
}

/** A new project with one key, made on a data directory that no service has open. */
export async function createProject(dataDir: string, name: string): Promise<IssuedKey> {
  const { id } = await gate<{ id: string }>(dataDir, 'project', 'create', '--name', name);
  return issueKey(dataDir, id);
}

/** A fresh data directory with one project in it, which is not the demo. */
export async function directoryWithProject(): Promise<{ dataDir: string; project: IssuedKey }> {
  const dataDir = temporaryDirectory();
  return { dataDir, project: await createProject(dataDir, 'first') };
}
