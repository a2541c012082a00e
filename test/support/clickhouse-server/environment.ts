import { createHash } from 'node:crypto';

const SERVER = process.env['GATE_TEST_CLICKHOUSE_URL'];

/**
 * Where the store of a data directory is. By default, in the directory itself. With GATE_TEST_CLICKHOUSE_URL
 * (http://user:password@host:8123, no database), on that server, in a separate database for each directory: so tests that know nothing
 * about it also run on a server. `npm run test:wire` starts one and sets the variable.
 */
export function storeEnvironment(dataDir: string): Record<string, string> {
  const url = storeUrl(dataDir);
  return url === undefined ? {} : { GATE_CLICKHOUSE_URL: url };
}

function storeUrl(dataDir: string): string | undefined {
  if (SERVER === undefined) return undefined;
  return `${SERVER.replace(/\/+$/, '')}/test_${createHash('sha256').update(dataDir).digest('hex').slice(0, 16)}`;
}

/** The rows of a statement on the server's store of a directory; undefined if the store is embedded. */
export async function queryServer<Row>(dataDir: string, sql: string): Promise<Row[] | undefined> {
  const text = storeUrl(dataDir);
  if (text === undefined) return undefined;
  const url = new URL(text);
  const authorization = `Basic ${Buffer.from(`${url.username}:${url.password}`).toString('base64')}`;
  const ask = `${url.origin}/?database=${url.pathname.slice(1)}&default_format=JSONEachRow`;
  const response = await fetch(ask, { method: 'POST', headers: { Authorization: authorization }, body: sql });
  const answer = await response.text();
  if (!response.ok) throw new Error(answer);
  return answer
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Row);
}
