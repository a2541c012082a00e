import type { IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, zstdDecompress } from 'node:zlib';
import type { Statement } from './engine.ts';
import { EngineError, errorNamed } from './faults.ts';

export type Request = {
  statement: Statement;
  /** The answer may be compressed with gzip. */
  wantsGzip: boolean;
  /** The caller wants to be told at this interval in milliseconds that the statement is still running. */
  progressEveryMs: number | undefined;
};

// http_max_uri_size and http_max_field_value_size with the defaults of a ClickHouse server. The latter applies to a parameter in the URL in
// its encoded form, and to one in a form unchanged.
const URI_BYTES_MAX = 1024 * 1024;
const FIELD_BYTES_MAX = 128 * 1024;

/** Settings of the HTTP interface itself, which the engine does not know. */
const HTTP_SETTINGS = new Set([
  'wait_end_of_query',
  'send_progress_in_http_headers',
  'http_headers_progress_interval_ms',
  'http_response_buffer_size',
  'enable_http_compression',
  'http_zlib_compression_level',
  'cancel_http_readonly_queries_on_client_close',
]);
const NOT_SETTINGS = new Set(['query', 'query_id', 'database', 'default_format', 'user', 'password', 'role']);

export type Credentials = { user: string; password: string };

/** Reads a request as ClickHouse's HTTP interface does. Rejects with an EngineError. */
export async function readRequest(req: IncomingMessage, credentials: Credentials): Promise<Request> {
  const url = new URL(req.url ?? '/', 'http://server');
  if ((req.url ?? '').length > URI_BYTES_MAX) throw poco('URI Too Long');
  if (url.search.split('&').some((field) => field.slice(field.indexOf('=') + 1).length > FIELD_BYTES_MAX)) {
    throw poco('Field value too long');
  }
  authenticate(req, credentials);
  if (url.searchParams.has('session_id')) throw errorNamed('SESSION_IS_LOCKED');
  const fields = new Map(url.searchParams);
  const body = await readBody(req);
  const form = /^multipart\/form-data; *boundary=(.+)$/.exec(req.headers['content-type'] ?? '');
  if (form !== null) for (const [name, value] of readForm(body, form[1] ?? '')) fields.set(name, value);
  const inUrl = fields.get('query');
  const text = inUrl ?? body;
  if (req.method === 'GET' && !/^\s*(?:SELECT|WITH|SHOW|EXISTS|DESCRIBE|EXPLAIN)\b/i.test(text))
    throw errorNamed('READONLY');
  const all = [...fields];
  const every = fields.get('send_progress_in_http_headers') === '1';
  return {
    statement: {
      database: fields.get('database') ?? 'default',
      text,
      data: inUrl === undefined || form !== null ? '' : body,
      format: fields.get('default_format') ?? String(req.headers['x-clickhouse-format'] ?? 'TabSeparated'),
      params: new Map(
        all.flatMap(([name, value]) =>
          name.startsWith('param_') ? [[name.slice('param_'.length), value]] : [],
        ),
      ),
      settings: new Map(
        all.filter(
          ([name]) => !name.startsWith('param_') && !NOT_SETTINGS.has(name) && !HTTP_SETTINGS.has(name),
        ),
      ),
    },
    wantsGzip:
      fields.get('enable_http_compression') === '1' && /gzip/.test(String(req.headers['accept-encoding'])),
    progressEveryMs: every ? Number(fields.get('http_headers_progress_interval_ms') ?? 100) : undefined,
  };
}

function poco(message: string): EngineError {
  return new EngineError(`Poco::Exception. Code: 1000, e.code() = 0, HTML Form Exception: ${message}`, {
    code: 1000,
    status: 500,
  });
}

/** Requests that a limit refuses before they are parsed as statements. */
function authenticate(req: IncomingMessage, { user, password }: Credentials): void {
  const expected = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
  if (req.headers.authorization !== expected) throw errorNamed('AUTHENTICATION_FAILED');
}

async function readBody(req: IncomingMessage): Promise<string> {
  const raw = await buffer(req);
  switch (req.headers['content-encoding']) {
    case undefined:
      return raw.toString();
    case 'gzip':
      return (await promisify(gunzip)(raw)).toString();
    case 'br':
      return (await promisify(brotliDecompress)(raw)).toString();
    case 'zstd':
      return (await promisify(zstdDecompress)(raw)).toString();
    default:
      throw poco(`Unknown encoding ${req.headers['content-encoding']}`);
  }
}

function readForm(body: string, boundary: string): [string, string][] {
  const parts = body.split(`--${boundary}`).slice(1, -1);
  return parts.map((part) => {
    const at = part.indexOf('\r\n\r\n');
    const value = part.slice(at + 4, -2);
    if (Buffer.byteLength(value) > FIELD_BYTES_MAX) throw poco('Field value too long');
    return [/name="([^"]*)"/.exec(part.slice(0, at))?.[1] ?? '', value];
  });
}
