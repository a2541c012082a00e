import { type ClickHouseServer, startClickHouse } from './start.ts';
import { startTestService, temporaryDirectory, type TestService } from '../service.ts';

/** The environment of a service on a ClickHouse server. */
export function onServer({ url }: Pick<ClickHouseServer, 'url'>, env: Record<string, string> = {}) {
  return { GATE_CLICKHOUSE_URL: url, ...env };
}

/** A service on a separate ClickHouse server for all cases of a suite; its fields are set from the first `before` on. */
export function useServiceOnServer(env: Record<string, string> = {}) {
  const [server, service] = [{} as ClickHouseServer, {} as TestService];
  before('a service on a server', async () => {
    Object.assign(server, await startClickHouse());
    Object.assign(service, await startTestService({ env: onServer(server, env) }));
  });
  after(async () => {
    await service.stop();
    await server.kill();
  });
  return { server, service };
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
