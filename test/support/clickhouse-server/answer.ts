import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import type { EngineResult, Statement } from './engine.ts';
import type { EngineError } from './faults.ts';
import type { Request } from './wire.ts';

export type Answer = { status: number; headers: Record<string, string>; body: Buffer };

/** The answer of a ClickHouse server to a statement that was carried out. */
export function answerTo({ statement, wantsGzip }: Request, result: EngineResult, elapsedMs: number): Answer {
  const body = wantsGzip && result.bytes.length > 0 ? gzipSync(result.bytes) : result.bytes;
  return {
    status: 200,
    headers: {
      ...commonHeaders(),
      'Content-Type': `${/JSON/.test(statement.format) ? 'application/json' : 'text/tab-separated-values'}; charset=UTF-8`,
      'X-ClickHouse-Format': statement.format,
      'X-ClickHouse-Summary': JSON.stringify(summaryOf(statement, result, elapsedMs)),
      ...(body === result.bytes ? {} : { 'Content-Encoding': 'gzip' }),
    },
    body,
  };
}

export function answerFault({ message, code, status }: EngineError): Answer {
  return {
    status,
    headers: {
      ...commonHeaders(),
      'Content-Type': 'text/plain; charset=UTF-8',
      'X-ClickHouse-Exception-Code': String(code),
    },
    body: Buffer.from(`${message} (version 26.7.2.1 (official build))\n`),
  };
}

function commonHeaders(): Record<string, string> {
  return {
    'X-ClickHouse-Server-Display-Name': 'test',
    'X-ClickHouse-Query-Id': randomUUID(),
    'X-ClickHouse-Timezone': 'UTC',
    'Keep-Alive': 'timeout=10',
  };
}

function summaryOf({ data }: Statement, { bytes, readRows, readBytes }: EngineResult, elapsedMs: number) {
  const written = data === '' ? 0 : data.trimEnd().split('\n').length;
  return {
    read_rows: String(readRows),
    read_bytes: String(readBytes),
    written_rows: String(written),
    written_bytes: String(data.length),
    total_rows_to_read: '0',
    result_rows: String(readRows),
    result_bytes: String(bytes.length),
    elapsed_ns: String(Math.round(elapsedMs * 1e6)),
  };
}

export function send(res: ServerResponse, { status, headers, body }: Answer): void {
  res.writeHead(status, { ...headers, 'Content-Length': body.length });
  res.end(body);
}

/** The head and half of the body; then the connection breaks. An empty body is announced as one of ten bytes. */
export function sendHalf(res: ServerResponse, { status, headers, body }: Answer): void {
  const whole = body.length < 2 ? Buffer.from('0123456789') : body;
  res.writeHead(status, { ...headers, 'Content-Length': whole.length });
  res.write(whole.subarray(0, whole.length >> 1), () => res.socket?.destroy());
}

/**
 * Reports at intervals that the statement is still running, in headers that precede those of the answer. The status was sent with the first
 * of them, so a later fault is reported only by its header, as by a ClickHouse server.
 */
export function keepTelling(res: ServerResponse, everyMs: number): (answer: Answer) => void {
  const { socket } = res;
  let told = 0;
  const timer = setInterval(() => {
    if (told === 0) socket?.write('HTTP/1.1 200 OK\r\nConnection: close\r\n');
    told += 1;
    socket?.write('X-ClickHouse-Progress: {"read_rows":"0","read_bytes":"0"}\r\n');
  }, everyMs);
  res.on('close', () => clearInterval(timer));
  return (answer) => {
    clearInterval(timer);
    if (told === 0) return send(res, answer);
    const headers = { ...answer.headers, 'Content-Length': String(answer.body.length) };
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    socket?.write(`${lines.join('')}\r\n`);
    socket?.end(answer.body);
  };
}
