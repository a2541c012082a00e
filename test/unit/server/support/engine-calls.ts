import { type Connection, connectEmbedded } from '../../../../server/store/connection.ts';
import { temporaryDirectory } from '../../../support/service.ts';

// Each of these runs in a process of its own (test/support/in-process.ts), on a new embedded engine.

const path = temporaryDirectory();
const open = () => connectEmbedded(path, {});

/** What a setting of the configuration is on the first connection, on a second one, and when the engine is opened again. */
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
