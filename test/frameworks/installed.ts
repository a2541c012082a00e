import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** Where main.ts installed the framework. */
export const FRAMEWORK_DIRECTORY = process.env['FRAMEWORK_DIRECTORY'] ?? '';

const { resolve } = createRequire(join(FRAMEWORK_DIRECTORY, 'package.json'));

/** Imports a module of the framework. */
export async function imported<T>(name: string): Promise<T> {
  return (await import(pathToFileURL(resolve(name)).href)) as T;
}
