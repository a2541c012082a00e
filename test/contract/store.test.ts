import { readConfig } from '../../server/config.ts';
import { createLogger } from '../../server/logger.ts';
import { createStore } from '../../server/store/store.ts';
import { startClickHouse } from '../support/clickhouse-server/start.ts';
import { storeDirectory, temporaryDirectory } from '../support/service.ts';
import { storeSuite } from './store-suite.ts';

const open = (env: Record<string, string>) =>
  createStore(readConfig({ GATE_DATA_DIR: temporaryDirectory(), ...env }), createLogger('silent'));

storeSuite('embedded', async () => {
  const store = open({ GATE_DATA_DIR: await storeDirectory() });
  return { store, close: () => store.close() };
});

storeSuite('over HTTP', async () => {
  const server = await startClickHouse();
  const store = open({ GATE_CLICKHOUSE_URL: server.url });
  const close = async () => {
    await store.close();
    await server.kill();
  };
  return { store, close };
});

const real = process.env['GATE_TEST_CLICKHOUSE_URL'];
if (real !== undefined) {
  storeSuite('on the server of GATE_TEST_CLICKHOUSE_URL', async () => {
    const store = open({ GATE_CLICKHOUSE_URL: `${real}/test_store_${process.pid}` });
    return { store, close: () => store.close() };
  });
}
