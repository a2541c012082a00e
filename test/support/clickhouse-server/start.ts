import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { clickhouseUrl } from '../../../server/config-values.ts';
import { connectServer } from '../../../server/store/connection.ts';
import { migrate } from '../../../server/store/migrate.ts';
import { temporaryDirectory } from '../service.ts';
import { copyTemplate } from '../store-template.ts';
import type { Fault } from './faults.ts';

const SCRIPT = fileURLToPath(new URL('process.ts', import.meta.url));
const USER = 'gate';
const STORE_PASSWORD = 'store-password-7';
const SCHEMA_MS_MAX = 30_000;

/** A ClickHouse server for tests, in a process of its own; see process.ts. */
export type ClickHouseServer = {
  /** What GATE_CLICKHOUSE_URL takes. */
  url: string;
  dataDir: string;
  /** The rows of a statement, regardless of active faults. */
  query<Row>(sql: string): Promise<Row[]>;
  /** From now on, instead of the previous faults. None: healthy again. */
  fail(...faults: Fault[]): Promise<void>;
  freeze(): void;
  thaw(): void;
  /** SIGKILL; resolves when the process is gone. `start` brings it back on its port with its data. */
  kill(): Promise<void>;
  start(): Promise<void>;
};

type StartOptions = {
  database?: string;
  /** Without the schema that the database `gatehouse` has by default. */
  isEmpty?: boolean;
};

export async function startClickHouse({
  database = 'gatehouse',
  isEmpty = false,
}: StartOptions = {}): Promise<ClickHouseServer> {
  const dataDir = temporaryDirectory();
  if (!isEmpty) await copyTemplate('server', dataDir, makeSchema);
  return startServer(dataDir, database);
}

async function makeSchema(dataDir: string): Promise<void> {
  const server = await startServer(dataDir, 'default');
  await server.query('CREATE DATABASE gatehouse');
  const config = { ...clickhouseUrl(server.url), database: 'gatehouse' };
  const connection = connectServer(config, { settings: {}, silenceMsMax: SCHEMA_MS_MAX });
  await migrate(connection);
  await connection.close();
  await server.kill();
}

async function startServer(dataDir: string, database: string): Promise<ClickHouseServer> {
  let port = 0;
  let child: ChildProcess | undefined;
  let lastId = 0;
  const start = async () => {
    const args = [dataDir, String(port), USER, STORE_PASSWORD];
    child = fork(SCRIPT, args, {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      // Node's own default of four would let only four statements run at once.
      env: { ...process.env, UV_THREADPOOL_SIZE: '48' },
    });
    const [message] = (await Promise.race([once(child, 'message'), endOf(child)])) as [{ port: number }];
    port = message.port;
    // A server that a failed test left behind must not keep the tests from ending; it ends with them.
    child.unref();
    child.channel?.unref();
  };
  const send = async (faults: Fault[]) => {
    const id = (lastId += 1);
    child?.send({ id, set: faults });
    for (;;) {
      const [message] = (await once(child as ChildProcess, 'message')) as [{ id?: number }];
      if (message.id === id) return;
    }
  };
  await start();
  return {
    url: `http://${USER}:${STORE_PASSWORD}@127.0.0.1:${port}/${database}`,
    dataDir,
    query: (sql) => query(`http://127.0.0.1:${port}/?database=${database}&default_format=JSONEachRow`, sql),
    fail: (...faults) => send(faults),
    freeze: () => void child?.kill('SIGSTOP'),
    thaw: () => void child?.kill('SIGCONT'),
    kill: async () => {
      if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
      child.ref();
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
    },
    start,
  };
}

async function endOf(child: ChildProcess): Promise<never> {
  const [code] = (await once(child, 'exit')) as [number | null];
  throw new Error(`The ClickHouse test server ended with ${code} before it listened`);
}

async function query<Row>(url: string, sql: string): Promise<Row[]> {
  const authorization = `Basic ${Buffer.from(`${USER}:${STORE_PASSWORD}`).toString('base64')}`;
  const headers = { Authorization: authorization, 'X-Test-Bypass': '1' };
  const response = await fetch(url, { method: 'POST', headers, body: sql });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`The ClickHouse test server answered: ${text}`);
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Row);
}
