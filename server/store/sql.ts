import { readdirSync, readFileSync } from 'node:fs';

const ROOT = new URL('../../clickhouse/', import.meta.url);

function readFolder(folder: string): Map<string, string> {
  const url = new URL(`${folder}/`, ROOT);
  const names = readdirSync(url)
    .filter((name) => name.endsWith('.sql'))
    .sort();
  return new Map(
    names.map((name) => [name.slice(0, -'.sql'.length), readFileSync(new URL(name, url), 'utf8')]),
  );
}

const queries = readFolder('query');

/** The text of clickhouse/query/<name>.sql. Throws when there is no such file. */
export function sql(name: string): string {
  const text = queries.get(name);
  if (text === undefined) throw new Error(`clickhouse/query/${name}.sql is missing`);
  return text;
}

export type Migration = { version: number; name: string; statements: string[] };

/** The numbered files of clickhouse/migrations, in order, split into statements. */
export function readMigrations(): Migration[] {
  return [...readFolder('migrations')].map(([name, text]) => ({
    version: Number.parseInt(name, 10),
    name,
    statements: text
      .split(/;\s*$/m)
      .map((statement) => statement.trim())
      .filter((statement) => statement.replace(/^--.*$/gm, '').trim() !== ''),
  }));
}
