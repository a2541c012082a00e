import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

export type RawAnswer = { status: number; headers: Record<string, string>; body: string };

/** One connection, TCP or TLS, on which a test sends exactly what it likes. */
export type RawConnection = {
  /** Resolves when the kernel has the bytes, or the other side no longer wants them. */
  write(bytes: string | Buffer): Promise<void>;
  /** The next complete answer. Rejects if the connection ends without one. */
  answer(): Promise<RawAnswer>;
  close(): void;
};

export async function openRaw(url: string): Promise<RawConnection> {
  const { protocol, hostname, port } = new URL(url);
  const isTls = protocol === 'https:';
  const target = { port: Number(port), host: hostname };
  const socket = (isTls ? connectTls(target) : connect(target)).setNoDelay();
  const received = collect(socket);
  await once(socket, isTls ? 'secureConnect' : 'connect');
  return {
    write: (bytes) =>
      new Promise((resolve) => {
        socket.write(bytes, () => resolve());
      }),
    answer: received.next,
    close: () => void socket.destroy(),
  };
}

/** Sends the bytes on a separate connection and resolves with the first answer. */
export async function exchange(url: string, ...parts: (string | Buffer)[]): Promise<RawAnswer> {
  const connection = await openRaw(url);
  const answer = connection.answer();
  void (async () => {
    for (const part of parts) await connection.write(part);
  })();
  try {
    return await answer;
  } finally {
    connection.close();
  }
}

/** The complete head of a POST. Headers are sent as given. */
export function head(path: string, headers: Record<string, string | number>, method = 'POST'): string {
  const lines = Object.entries({ Host: 'localhost', ...headers }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`;
}

/** Sends the head of a call, and resolves once the service has identified the caller. The resolved function sends the body. */
export async function holdBody(
  url: string,
  path: string,
  { headers, body }: { headers: Record<string, string>; body: unknown },
): Promise<() => Promise<RawAnswer>> {
  const connection = await openRaw(url);
  const text = JSON.stringify(body);
  const ofBody = { 'Content-Type': 'application/json', 'Content-Length': text.length };
  await connection.write(head(path, { ...headers, ...ofBody, Expect: '100-continue' }));
  const { status } = await connection.answer();
  if (status !== 100) throw new Error(`The service does not wait for the body, but answers ${status}`);
  return async () => {
    await connection.write(text);
    return connection.answer().finally(() => connection.close());
  };
}

/** The status and the code of a problem; for anything else, the whole body. */
export function codeOf({ status, headers, body }: RawAnswer): unknown[] {
  const isProblem = headers['content-type']?.startsWith('application/problem+json') === true;
  return [status, isProblem ? (JSON.parse(body) as { code: string }).code : body];
}

function collect(socket: Socket): { next: () => Promise<RawAnswer> } {
  let bytes: Buffer = Buffer.alloc(0);
  let end: Error | undefined;
  let wake = (): void => undefined;
  const endWith = (why: string) => {
    end ??= new Error(
      `The connection ended without an answer: ${why}; so far ${JSON.stringify(bytes.toString())}`,
    );
    wake();
  };
  socket.on('data', (chunk) => {
    bytes = Buffer.concat([bytes, chunk]);
    wake();
  });
  socket.on('error', (error) => endWith(error.message));
  socket.on('close', () => endWith('closed'));
  const next = async (): Promise<RawAnswer> => {
    for (;;) {
      const taken = takeAnswer(bytes);
      if (taken !== undefined) {
        bytes = taken.rest;
        return taken.answer;
      }
      if (end !== undefined) throw end;
      await new Promise<void>((resolve) => (wake = resolve));
    }
  };
  return { next };
}

function takeAnswer(bytes: Buffer): { answer: RawAnswer; rest: Buffer } | undefined {
  const headEnd = bytes.indexOf('\r\n\r\n');
  if (headEnd < 0) return undefined;
  const [statusLine = '', ...lines] = bytes.subarray(0, headEnd).toString('latin1').split('\r\n');
  const headers = Object.fromEntries(
    lines.map((line) => [
      line.slice(0, line.indexOf(':')).toLowerCase(),
      line.slice(line.indexOf(':') + 1).trim(),
    ]),
  );
  const status = Number(statusLine.split(' ')[1]);
  const bodyEnd = headEnd + 4 + (status === 100 ? 0 : Number(headers['content-length'] ?? 0));
  if (bytes.length < bodyEnd) return undefined;
  const answer = { status, headers, body: bytes.subarray(headEnd + 4, bodyEnd).toString() };
  return { answer, rest: bytes.subarray(bodyEnd) };
}
