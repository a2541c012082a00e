import { runGate } from './processes.ts';
import { storeDirectory } from './service.ts';

export type IssuedKey = { project_id: string; key_id: string; key: string };

/** Runs the command line and resolves with the JSON that it prints. */
export async function gate<T>(dataDir: string, ...args: string[]): Promise<T> {
  const { code, stdout, stderr } = await runGate({ dataDir, args: [...args, '--json'] });
  if (code !== 0) throw new Error(stderr);
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

/** A data directory with a project in it that is not the demo's. */
export async function directoryWithProject(): Promise<{ dataDir: string; project: IssuedKey }> {
  const dataDir = await storeDirectory();
  return { dataDir, project: await createProject(dataDir, 'first') };
}
