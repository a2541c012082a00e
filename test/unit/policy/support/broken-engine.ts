import { cpSync, mkdtempSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type * as language from '../../../../client/policy/language/index.ts';
import type { PlantedBug } from './planted-bugs.ts';
import type { MakeEngine } from './properties.ts';

const LANGUAGE = fileURLToPath(new URL('../../../../client/policy/language', import.meta.url));
// Inside the repository, so that the copies find the yaml package.
const COPIES = fileURLToPath(new URL('../../../tmp/', import.meta.url));

/** The TypeScript engine from a copy of its source with one bug planted. */
export async function brokenEngine({ file, from, to }: PlantedBug): Promise<MakeEngine> {
  mkdirSync(COPIES, { recursive: true });
  const copy = mkdtempSync(join(COPIES, 'language-'));
  try {
    cpSync(LANGUAGE, copy, { recursive: true });
    const source = readFileSync(join(copy, file), 'utf8');
    if (!source.includes(from)) throw new Error(`${file} has no "${from}" any more: plant the bug again`);
    writeFileSync(join(copy, file), source.replaceAll(from, to));
    const broken = (await import(pathToFileURL(join(copy, 'index.ts')).href)) as typeof language;
    return (policy) => {
      const parsed = broken.parsePolicy(policy);
      if (!parsed.ok) throw new Error('A planted bug must leave the front end as it is');
      return broken.createTypescriptEngine(parsed.ir).decideText;
    };
  } finally {
    rmSync(copy, { recursive: true });
  }
}
