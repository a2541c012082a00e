import type { ClickHouseServer } from './start.ts';
import { startTestService, temporaryDirectory, type TestService } from '../service.ts';

/** The environment of a service on a ClickHouse server. */
export function onServer({ url }: Pick<ClickHouseServer, 'url'>, env: Record<string, string> = {}) {
  return { GATE_CLICKHOUSE_URL: url, ...env };
}

/** Two services on one store, with one root key and one demo project. */
export async function startPair(
  server: ClickHouseServer,
  env: Record<string, string> = {},
): Promise<[TestService, TestService]> {
  const dataDir = temporaryDirectory();
  const first = await startTestService({ dataDir, env: onServer(server, env) });
  return [first, await startTestService({ dataDir, env: onServer(server, env) })];
}
