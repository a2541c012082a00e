import { findCommand } from '../../server/cli/commands.ts';
import { parseOptions, splitCommandLine } from '../../server/cli/options.ts';
import { readConfig } from '../../server/config.ts';
import { oneStoreAtATime } from './engine.ts';
import { environmentOf, storeDirectory } from './service.ts';

export type IssuedKey = { project_id: string; key_id: string; key: string };

/** A data directory, or the variables that name the store. */
type Where = string | Record<string, string>;

/** Runs a command of the command line in this process, and resolves with its result as JSON. */
export function gate<T>(where: Where, ...args: string[]): Promise<T> {
  return oneStoreAtATime(() => run<T>(where, args));
}

async function run<T>(where: Where, args: string[]): Promise<T> {
  const { name, rest } = splitCommandLine(args);
  const command = findCommand(name);
  if (command === undefined) throw new Error(`There is no command "${name}".`);
  const env = typeof where === 'string' ? environmentOf(where, {}) : where;
  // Its progress must not appear among the results of the tests.
  process.stderr.write = () => true;
  try {
    const result = await command.run(() => readConfig(env), parseOptions(command, rest));
    return JSON.parse(JSON.stringify(result)) as T;
  } finally {
    Reflect.deleteProperty(process.stderr, 'write');
  }
}

/** Runs a command that must fail, and resolves with its error. */
export async function gateFault(where: Where, ...args: string[]): Promise<Error> {
  const outcome = await gate(where, ...args).catch((error: Error) => error);
  if (outcome instanceof Error) return outcome;
  throw new Error(`${args.join(' ')} did not fail: ${JSON.stringify(outcome)}`);
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
