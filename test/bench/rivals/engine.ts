import { mkdirSync } from 'node:fs';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DECISION_COLUMNS, DECISION_ROW, type DecisionEvent } from '../../../server/ingest/decision-event.ts';
import { entryFrom } from '../../../server/ingest/event-row.ts';
import { connectEmbedded, type Connection } from '../../../server/store/connection.ts';
import { migrate } from '../../../server/store/migrate.ts';

/** The same engine, the same table, the same fsync as the service, in a separate directory. */
export async function openDecisions(path: string): Promise<Connection> {
  mkdirSync(path, { recursive: true });
  const connection = connectEmbedded(path, {
    max_threads: 1,
    max_insert_threads: '1',
    input_format_parallel_parsing: 0,
  });
  await migrate(connection);
  return connection;
}

export async function countRows(connection: Connection): Promise<number> {
  const rows = await connection.query<{ total: string }>('SELECT count() AS total FROM decisions');
  return Number(rows[0]?.total);
}

/** A row as the service writes it, without its checks. */
export function rowFrom(event: Record<string, unknown>): string {
  const occurredAtMs = Date.parse(String(event['occurred_at']));
  const server = { project_id: 'bench', agent_version_id: '', receivedAtMs: Date.now() };
  const text = (name: string) => JSON.stringify(event[name]);
  const fields = { ...event, occurredAtMs, hint: text('hint'), arguments: text('arguments') };
  return entryFrom(fields as DecisionEvent, server, DECISION_ROW).line;
}

export { DECISION_COLUMNS };

/** Listens on a free port and prints it. */
export function serve(server: Server): void {
  server.keepAliveTimeout = 65_000;
  server.listen(0, '127.0.0.1', () => {
    process.stdout.write(`"url":"http://127.0.0.1:${(server.address() as AddressInfo).port}"\n`);
  });
}
