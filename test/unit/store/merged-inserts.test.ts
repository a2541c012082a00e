import { expect } from 'chai';
import { createServer } from 'node:http';
import { readConfig } from '../../../server/config.ts';
import { createLogger } from '../../../server/logger.ts';
import { createStore } from '../../../server/store/store.ts';
import { listen } from '../../support/listen.ts';

/** The settings that a server gets with an insert of events without a token, with one, and of identities. */
async function settingsOfInserts(env: Record<string, string>): Promise<Record<string, string>[]> {
  const seen: Record<string, string>[] = [];
  const server = createServer((req, res) => {
    seen.push(Object.fromEntries(new URL(req.url ?? '/', 'http://h').searchParams));
    req.resume().on('end', () => res.writeHead(200, { 'X-ClickHouse-Query-Id': 'x' }).end());
  });
  const port = await listen(server);
  const config = readConfig({ GATE_CLICKHOUSE_URL: `http://127.0.0.1:${port}/gate`, ...env });
  const store = createStore(config, createLogger('silent'));
  const rows = { table: 'decisions', columns: ['event_id'], lines: ['["x"]'] };
  await store.writer.insert({ ...rows, token: undefined });
  await store.writer.insert({ ...rows, token: 'once' });
  await store.background.insert({ ...rows, token: undefined });
  await store.close();
  server.close();
  return seen;
}

describe('the settings of inserts', () => {
  const merged = {
    async_insert: '1',
    wait_for_async_insert: '1',
    async_insert_busy_timeout_max_ms: '125',
    async_insert_use_adaptive_busy_timeout: '0',
    async_insert_max_data_size: '67108864',
    deduplicate_insert: 'disable',
    prefer_localhost_replica: '0',
    load_balancing: 'in_order',
  };
  const durable = { insert_quorum: 'auto', distributed_foreground_insert: '1' };

  it('on a cluster let it merge what has no token, and wait for a majority of the replicas in each case', async () => {
    const [events, alone, identities] = await settingsOfInserts({ GATE_CLICKHOUSE_CLUSTER: 'fleet' });

    expect(events).to.deep.include({ ...merged, ...durable });
    expect(events).not.to.have.property('insert_deduplication_token');
    expect(alone).to.deep.include({ async_insert: '0', insert_deduplication_token: 'once', ...durable });
    expect(alone).not.to.have.any.keys('deduplicate_insert', 'prefer_localhost_replica');
    expect(identities).to.deep.include({ ...merged, ...durable });
  });

  it('make each insert a separate part if nothing is merged', async () => {
    for (const settings of await settingsOfInserts({})) {
      expect(settings).to.deep.include({ async_insert: '0' });
      expect(settings).not.to.have.any.keys('deduplicate_insert', 'insert_quorum');
    }
  });
});
