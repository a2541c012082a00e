import {
  createClient,
  type ClickHouseClient,
  ClickHouseLogLevel,
  type ClickHouseSettings,
  parseError,
  type ResponseHeaders,
} from '@clickhouse/client';
import type { ChdbExtension } from 'chdb/connection';
import { fileURLToPath } from 'node:url';
import type { ClickHouseConfig } from '../config.ts';
import { type QueryParams, withParamsSet } from './bind-params.ts';
import { dropOptionalConditions } from './optional-conditions.ts';
import { LineEncoder } from './line-encoder.ts';
import { StoreError, storeErrorFrom } from './store-error.ts';
import { withTimeout } from './with-timeout.ts';

export type { QueryParams };

/** Rows of one insert, each already a line of JSONCompactEachRow. */
export type EncodedRows = {
  table: string;
  columns: readonly string[];
  lines: string[];
  /** The store keeps the rows of a token once. Undefined: it may merge them with rows of other processes. */
  token: string | undefined;
  /** The value of the last column, the same in all rows. It is not in the lines. */
  last?: string | undefined;
};

/** One connection to the store. Every method rejects with a StoreError. */
export type Connection = {
  command(sql: string, params?: QueryParams): Promise<void>;
  query<Row>(sql: string, params?: QueryParams): Promise<Row[]>;
  /** The bytes of a result in the FORMAT that the statement names. */
  queryBytes(sql: string, params?: QueryParams): Promise<Buffer>;
  insert(rows: EncodedRows): Promise<void>;
  close: () => Promise<void>;
};

type ClientConfig = NonNullable<Parameters<typeof createClient>[0]>;
type MakeClient = () => Promise<ClickHouseClient>;

class EncodedText {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

// Rows are encoded once, when the request is parsed. The driver must not encode them again.
const json = {
  parse: JSON.parse,
  stringify: (value: unknown) => (value instanceof EncodedText ? value.text : JSON.stringify(value)),
};

export type ServerOptions = {
  settings: ClickHouseSettings;
  /** A statement fails when the server is silent for this long. */
  silenceMsMax: number;
  /** For inserts without a token. */
  mergedInserts?: ClickHouseSettings | undefined;
};

// The server sends a result only when it is complete, so that a part of it never looks like the whole. Reads may be long: they are sent as
// they are produced, and report their progress instead.
const WHOLE: ClickHouseSettings = { wait_end_of_query: 1 };
const PROGRESS: ClickHouseSettings = {
  send_progress_in_http_headers: 1,
  http_headers_progress_interval_ms: '1000',
};

/** A connection to a ClickHouse server over HTTP. The settings go with every statement. */
export function connectServer(
  config: ClickHouseConfig,
  { settings, silenceMsMax, mergedInserts }: ServerOptions,
): Connection {
  const isRead = settings.max_execution_time !== undefined;
  const client = createClient({
    ...config,
    application: 'gatehouse',
    clickhouse_settings: { ...(isRead ? PROGRESS : WHOLE), ...settings },
    request_timeout: silenceMsMax,
    keep_alive: { enabled: true, idle_socket_ttl: 2000 },
    // A parameter with many identities is too long for a URL.
    use_multipart_params_auto: true,
    // Errors are thrown and logged where they are handled. Otherwise, the driver would print them as well.
    log: { level: ClickHouseLogLevel.OFF },
    json,
  });
  const bind: Bind = (sql, params) => ({ query: sql, query_params: params });
  return connectionOver(() => Promise.resolve(client), { bind, mergedInserts, confirm: requireServer });
}

/** A proxy may answer in place of the server, with status 200 and any body or none. Then nothing was done. */
function requireServer({ response_headers: headers }: Answer): void {
  if (!Object.keys(headers).some((name) => name.startsWith('x-clickhouse-')))
    throw new StoreError(
      'store_unavailable',
      'The answer is not from ClickHouse: it has no X-ClickHouse headers. Try again.',
    );
}

const EMBEDDED_CONFIG = fileURLToPath(new URL('../../clickhouse/embedded.xml', import.meta.url));

/**
 * A statement without a waiting caller keeps the engine open after a close, and a process that exits before it ends may crash
 * (https://github.com/chdb-io/chdb-core/issues/177). A close waits for it, but a stop must end in time.
 */
const DRAIN_MS_MAX = 3000;

/**
 * A connection to the embedded engine, opened at first use. It runs one statement at a time.
 * `settings` are set once and stay on the connection.
 */
export function connectEmbedded(path: string, settings: ClickHouseSettings): Connection {
  let opening: Promise<Opened> | undefined;
  const open = async () => {
    // The engine does not open in a time zone that it cannot load, such as TZ=JST-9. All times of the service are in UTC.
    process.env['TZ'] = 'UTC';
    const [{ Session }, { createChdbConnection }] = await Promise.all([
      import('chdb'),
      import('chdb/connection'),
    ]);
    let opened: Opened;
    // The first session of a process configures its engine; the driver's connection takes no configuration.
    const opener = new Session(path, { connectionArgs: [`--config-file=${EMBEDDED_CONFIG}`] });
    try {
      const connection = createChdbConnection({ path });
      // chdb has its own copy of the client's types.
      const driver = connection as unknown as NonNullable<ClientConfig['connection']>;
      opened = { client: createClient({ connection: driver, json }), engine: connection.chdb };
    } finally {
      opener.close();
    }
    for (const [name, value] of Object.entries(settings))
      await opened.client.command({
        query: `SET ${name} = ${typeof value === 'string' ? `'${value}'` : String(value)}`,
      });
    return opened;
  };
  const make = () =>
    (opening ??= open().catch((error: unknown) => {
      opening = undefined;
      throw error;
    }));
  const bind: Bind = (sql, params) => ({ query: withParamsSet(sql, params) });
  const connection = connectionOver(async () => (await make()).client, { bind });
  const inLine = oneByOne(() => connection.query('SELECT 1'));
  const encoder = new LineEncoder();
  return {
    ...connection,
    command: (sql, params) => inLine(() => connection.command(sql, params)),
    query: <Row>(sql: string, params?: QueryParams) => inLine(() => connection.query<Row>(sql, params)),
    queryBytes: (sql, params) => inLine(() => connection.queryBytes(sql, params)),
    // Bytes go to the engine unchanged: the driver would copy their text four times. Within one process the outcome of an insert is always
    // known, so the token would only cost time.
    insert: async ({ table, columns, lines, last }) => {
      const bytes = encoder.encode(lines, endOf(last));
      try {
        const { engine } = await make();
        await engine.rawInsert({ table, columns, values: bytes.value, format: 'JSONCompactEachRow' });
      } catch (error) {
        throw storeErrorFrom(parseError(error as Error), { isInsert: true });
      } finally {
        bytes.release();
      }
    },
    close: async () => {
      if (opening === undefined) return;
      await connection.close();
      const { drainPending } = await import('chdb');
      await withTimeout(drainPending(), DRAIN_MS_MAX).catch(() => undefined);
    },
  };
}

/**
 * Runs statements one after the other, as the engine does on one connection. When a statement fails or is stopped, the engine (chdb 3.4.0)
 * keeps the part of its answer that was written, and puts it before the next answer. `drain` is a statement that discards it.
 */
function oneByOne(drain: () => Promise<unknown>): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  let isClean = true;
  return (work) => {
    const done = last.then(async () => {
      if (!isClean) await drain();
      isClean = false;
      const result = await work();
      isClean = true;
      return result;
    });
    last = done.catch(() => undefined);
    return done;
  };
}

/** The end of each line when its row gets another value. */
function endOf(last: string | undefined): string {
  return last === undefined ? '' : `,${last}]`;
}

/** The driver over an engine in this process, and the engine itself. */
type Opened = { client: ClickHouseClient; engine: ChdbExtension };

/** Builds the driver's arguments from a statement and its parameters. */
type Bind = (sql: string, params: QueryParams) => { query: string; query_params?: QueryParams };

type Answer = { response_headers: ResponseHeaders };

/** `confirm` throws unless it was the store that answered. */
type Driving = Pick<ServerOptions, 'mergedInserts'> & { bind: Bind; confirm?: (answer: Answer) => void };

function connectionOver(
  client: MakeClient,
  { bind, mergedInserts, confirm = () => undefined }: Driving,
): Connection {
  const prepare: Bind = (sql, params) => bind(dropOptionalConditions(sql, params), params);
  const attempt = async <T>(
    work: (client: ClickHouseClient) => Promise<T>,
    options?: { isInsert: boolean },
  ): Promise<T> => {
    try {
      return await work(await client());
    } catch (error) {
      throw storeErrorFrom(error, options);
    }
  };
  return {
    command: (sql, params = {}) =>
      attempt(async (c) => {
        confirm(await c.command(prepare(sql, params)));
      }),
    query: <Row>(sql: string, params: QueryParams = {}) =>
      attempt(async (c) => {
        const result = await c.query({ ...prepare(sql, params), format: 'JSONEachRow' });
        const rows = await result.json<Row>();
        confirm(result);
        return rows;
      }),
    queryBytes: (sql, params = {}) =>
      attempt(async (c) => {
        const result = await c.exec(prepare(sql, params));
        const chunks: Buffer[] = [];
        for await (const chunk of result.stream) chunks.push(chunk as Buffer);
        confirm(result);
        const [first] = chunks;
        return first !== undefined && chunks.length === 1 ? first : Buffer.concat(chunks);
      }),
    insert: ({ table, columns, lines, token, last }) =>
      attempt(
        async (c) => {
          const end = endOf(last);
          const closed = end === '' ? lines : lines.map((line) => line.slice(0, -1) + end);
          const answer = await c.insert({
            table,
            columns: columns as [string, ...string[]],
            values: [new EncodedText(closed.join('\n'))],
            format: 'JSONCompactEachRow',
            clickhouse_settings:
              (token === undefined ? mergedInserts : { insert_deduplication_token: token }) ?? {},
          });
          confirm(answer);
        },
        { isInsert: true },
      ),
    close: async () => (await client()).close(),
  };
}
