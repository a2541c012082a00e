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
  statSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { HOUR_MS } from '../../server/durations.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const CACHE = join(ROOT, 'node_modules/.cache/test-store');

let templateKeyOnce: string | undefined;

/** Everything that a first start depends on, and the day, because a store ages. */
function templateKey(): string {
  const hash = createHash('sha256').update(new Date().toISOString().slice(0, 10));
  for (const path of globSync('{server,clickhouse}/**/*.{ts,sql,yaml}', {
    cwd: ROOT,
    exclude: ['**/dashboard/**'],
  }).sort())
    hash.update(readFileSync(join(ROOT, path)));
  return hash.digest('hex');
}

type Make = (dataDir: string) => Promise<void>;
/** Where it is kept, and what creates it there if no test has done so yet. */
type Template = { path: string; make: Make };
const templates = new Map<string, Promise<void>>();

/**
 * Copies a data directory whose creation takes most of the time of many tests: that of a service after its first start, or that of a server
 * with the schema. It is kept until the code changes.
 */
export async function copyTemplate(name: 'service' | 'server', to: string, make: Make): Promise<void> {
  const key = (templateKeyOnce ??= templateKey());
  // Processes that began before midnight, or before the code changed, still copy theirs.
  const removeOld = () => {
    const isOld = (other: string) => statSync(join(CACHE, other)).mtimeMs < Date.now() - 2 * HOUR_MS;
    const old = readdirSync(CACHE).filter((other) => !other.startsWith(key) && isOld(other));
    for (const other of old) rmSync(join(CACHE, other), { recursive: true, force: true });
  };
  const path = join(CACHE, `${key}-${name}`);
  await copyMade(to, { path, make: (dataDir) => make(dataDir).then(removeOld) });
}

/** Copies a directory, which is created for the first copy. */
export async function copyMade(to: string, template: Template): Promise<void> {
  let made = templates.get(template.path);
  if (made === undefined) templates.set(template.path, (made = makeOnce(template)));
  made.catch(() => templates.delete(template.path));
  await made;
  // As it is, the link to the definitions of the tables is relative.
  cpSync(template.path, to, { recursive: true, verbatimSymlinks: true });
}

async function makeOnce({ path, make }: Template): Promise<void> {
  if (existsSync(path)) return;
  mkdirSync(dirname(path), { recursive: true });
  const made = mkdtempSync(`${path}.`);
  await make(made);
  // Whichever process is first.
  if (existsSync(path)) rmSync(made, { recursive: true });
  else renameSync(made, path);
}
