import { readConfig } from '../../../../server/config.ts';
import { createLogger } from '../../../../server/logger.ts';
import { type Connection, connectEmbedded } from '../../../../server/store/connection.ts';
import { createStore } from '../../../../server/store/store.ts';
import { storeDirectory, temporaryDirectory } from '../../../support/service.ts';

// Each of these runs in a separate process (test/support/in-process.ts), on a new embedded engine.

const path = temporaryDirectory();
const open = () => connectEmbedded(path, {});

/** The value of a configured setting on the first connection, on a second one, and after the engine is opened again. */
export async function configured(setting: string): Promise<string[]> {
  const sql = 'SELECT value FROM system.server_settings WHERE name = {setting: String}';
  const ask = async (connection: Connection) =>
    (await connection.query<{ value: string }>(sql, { setting }))[0]?.value ?? '';
  const [first, second] = [open(), open()];
  const values = [await ask(first), await ask(second)];
  await first.close();
  values.push(await ask(second));
  await second.close();
  return [...values, await ask(open())];
}

export type Echo = { s: string; n: string; a: string[] };

/** Each text as it comes back from three types of parameters. */
export async function echo(texts: string[]): Promise<Echo[]> {
  const connection = open();
  const sql = 'SELECT {s: String} AS s, {n: Nullable(String)} AS n, {a: Array(String)} AS a';
  const answers = [];
  for (const text of texts)
    answers.push(...(await connection.query<Echo>(sql, { s: text, n: text, a: [text, ...texts] })));
  return answers;
}

export function nullAndNumber(values: { n: null; i: number }): Promise<object[]> {
  return open().query('SELECT {n: Nullable(String)} AS n, {i: UInt32} AS i', values);
}

/** The order in which a slow statement and quick ones on another connection end. */
export async function besideSlow(names: string[]): Promise<string[]> {
  const order: string[] = [];
  const slow = open()
    .query('SELECT sleepEachRow({s: Float64}) FROM numbers(2)', { s: 0.5 })
    .then(() => order.push('slow'));
  const quick = open();
  for (const name of names)
    order.push(
      (await quick.query<{ name: string }>('SELECT {name: String} AS name', { name }))[0]?.name ?? '',
    );
  await slow;
  return order;
}

/** Whether a statement that nobody waits for has ended when its connection is closed. */
export async function closedWhileBusy(): Promise<string> {
  const connection = open();
  await connection.query('SELECT 1');
  const busy = connection.query('SELECT sleepEachRow(0.25) FROM numbers(2)').then(
    () => 'ended',
    () => 'ended',
  );
  await connection.close();
  return Promise.race([busy, new Promise<string>((resolve) => setImmediate(resolve, 'busy'))]);
}

/** Whether a statement that would take long, and that nobody waits for, has ended when its store is closed. */
export async function storeClosedWhileBusy(): Promise<string> {
  const store = createStore(readConfig({ GATE_DATA_DIR: await storeDirectory() }), createLogger('silent'));
  await store.ready();
  const long = 'SELECT sleepEachRow(0.1) FROM numbers(300) SETTINGS max_block_size = 1';
  const busy = store.background.query(long).then(
    () => 'ended by itself',
    () => 'ended',
  );
  await store.lookups.query('SELECT 1');
  await store.close();
  return Promise.race([busy, new Promise<string>((resolve) => setImmediate(resolve, 'busy'))]);
}

/** The answers of statements on a connection on which each of `failing` fails or is stopped while its answer is written. */
export async function answersAfter(failing: string[]): Promise<unknown[]> {
  const connection = open();
  const ask = (sql: string) => connection.query(sql).catch(() => 'failed');
  const answers: unknown[] = [];
  for (const sql of failing) {
    answers.push(...(await Promise.all([sql, 'SELECT 1 AS mine', 'SELECT 2 AS mine'].map(ask))));
    answers.push(await ask(sql));
    answers.push((await connection.queryBytes('SELECT 3 AS mine FORMAT JSONEachRow')).toString());
  }
  return answers;
}
