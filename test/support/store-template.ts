import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { join } from 'node:path';

const ROOT = new URL('../../', import.meta.url).pathname;
const CACHE = join(ROOT, 'node_modules/.cache/test-store');

/** All that a first start depends on, and the day, because a store ages. */
function templateKey(): string {
  const hash = createHash('sha256').update(new Date().toISOString().slice(0, 10));
  for (const path of globSync('{server,clickhouse}/**/*.{ts,sql,yaml}', {
    cwd: ROOT,
    exclude: ['**/dashboard/**'],
  }).sort())
    hash.update(readFileSync(join(ROOT, path)));
  return hash.digest('hex');
}

let template: Promise<string> | undefined;

/**
 * Copies the data directory of a service after its first start, whose schema and demo project take most of the time of many a test. `firstStart` makes it where no
 * test has yet, in the directory that it gets.
 */
export async function copyTemplate(
  to: string,
  firstStart: (dataDir: string) => Promise<void>,
): Promise<void> {
  template ??= makeTemplate(firstStart).catch((error: unknown) => {
    template = undefined;
    throw error;
  });
  cpSync(await template, to, { recursive: true });
}

async function makeTemplate(firstStart: (dataDir: string) => Promise<void>): Promise<string> {
  const path = join(CACHE, templateKey());
  if (existsSync(path)) return path;
  mkdirSync(CACHE, { recursive: true });
  const made = mkdtempSync(`${path}.`);
  await firstStart(made);
  // Whichever process is first.
  if (existsSync(path)) rmSync(made, { recursive: true });
  else renameSync(made, path);
  const old = readdirSync(CACHE).filter((name) => !join(CACHE, name).startsWith(path));
  for (const name of old) rmSync(join(CACHE, name), { recursive: true, force: true });
  return path;
}
