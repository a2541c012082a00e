import { setTimeout as delay } from 'node:timers/promises';
import { messageOf } from '../errors.ts';
import { isObject } from '../json.ts';
import type { Logger } from '../logger.ts';
import { readEvents } from './event-stream.ts';
import { Gateway, type GatewayParts } from './gateway.ts';
import { readLines, writerTo } from './lines.ts';
import type { Message } from './message.ts';

/** A server over Streamable HTTP. */
export type RemoteAddress = {
  url: string;
  /** Sent with every request; for the server's credentials. */
  headers: Readonly<Record<string, string>>;
};

const RECONNECT_MS = 1_000;
const END_MS = 2_000;
/** A message without an answer holds the next one for this long at most. */
const ACCEPT_MS = 10_000;
const UNREACHABLE = -32000;

/** Stands between standard input and output and a server over Streamable HTTP until the input ends. Resolves with the exit code. */
export async function serveHttp(address: RemoteAddress, parts: GatewayParts): Promise<number> {
  const toClient = writerTo(process.stdout, process.stdin);
  const remote = new RemoteServer({
    ...address,
    logger: parts.logger,
    onMessage: (line) => gateway.fromServer(Buffer.from(line)),
  });
  const toServer = (line: Buffer | string): void => remote.send(line.toString());
  const gateway = new Gateway({ ...parts, toClient, toServer });
  process.stdout.on('error', () => process.stdin.destroy());
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => process.stdin.destroy());
  try {
    await readLines(process.stdin, (line) => gateway.fromClient(line));
    return 0;
  } finally {
    await gateway.end();
    await remote.close();
  }
}

type RemoteServerOptions = RemoteAddress & {
  logger: Logger;
  onMessage: (line: string) => void;
  acceptMs?: number;
};

/** A server over Streamable HTTP (MCP, "Transports"): one POST for each message, and a stream for those of the server's own. */
export class RemoteServer {
  readonly #options: RemoteServerOptions;
  readonly #closing = new AbortController();
  #session: string | undefined;
  #version: string | undefined;
  #initializeId: unknown;
  /** Messages without an answer keep their order: each is accepted before the next one is sent. */
  #queue: Promise<unknown> = Promise.resolve();
  readonly #posts = new Set<Promise<void>>();

  constructor(options: RemoteServerOptions) {
    this.#options = options;
  }

  send(line: string): void {
    const message = JSON.parse(line) as Message;
    if (message.method === 'initialize') this.#initializeId = message.id;
    const isRequest = message.method !== undefined && message.id !== undefined;
    this.#queue = this.#queue.then(() => {
      const { acceptMs = ACCEPT_MS } = this.#options;
      const closing = this.#closing.signal;
      const signal = isRequest ? closing : AbortSignal.any([closing, AbortSignal.timeout(acceptMs)]);
      const posted = this.#post(line, message, signal).catch((error: unknown) =>
        this.#fail(message, messageOf(error)),
      );
      this.#posts.add(posted);
      void posted.finally(() => this.#posts.delete(posted));
      return isRequest ? undefined : posted;
    });
  }

  /** Waits a moment for answers, and ends the session, as far as the server takes part. */
  async close(): Promise<void> {
    const answered = this.#queue.then(() => Promise.all(this.#posts));
    await Promise.race([answered, delay(END_MS, undefined, { ref: false })]);
    this.#closing.abort();
    if (this.#session === undefined) return;
    const options = { method: 'DELETE', headers: this.#headers(), signal: AbortSignal.timeout(END_MS) };
    await fetch(this.#options.url, options).catch(() => undefined);
  }

  async #post(line: string, message: Message, signal: AbortSignal): Promise<void> {
    const headers = this.#headers({
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
    });
    const response = await this.#fetch({ method: 'POST', headers, body: line.trimEnd() }, signal);
    this.#session = response.headers.get('mcp-session-id') ?? this.#session;
    if (!response.ok)
      throw new Error(`The server answered ${response.status}: ${(await response.text()).slice(0, 500)}`);
    if (message.method === 'notifications/initialized') void this.#listen();
    const type = response.headers.get('content-type') ?? '';
    if (type.includes('text/event-stream') && response.body !== null)
      await this.#readAnswer(response.body, message, signal);
    else this.#take(await response.text());
  }

  /** A stream that breaks before the answer is taken up after its last event, where the server gives ids. */
  async #readAnswer(body: ReadableStream<Uint8Array>, { id }: Message, signal: AbortSignal): Promise<void> {
    let lastId: string | undefined;
    let isAnswered = false;
    const onEvent = (event: { id: string | undefined; data: string }): void => {
      lastId = event.id ?? lastId;
      isAnswered ||= this.#take(event.data, id);
    };
    await readEvents(body, onEvent).catch(() => undefined);
    while (!isAnswered && lastId !== undefined && !signal.aborted) {
      await delay(RECONNECT_MS, undefined, { ref: false });
      const headers = this.#headers({ Accept: 'text/event-stream', 'Last-Event-ID': lastId });
      const response = await this.#fetch({ headers }, signal);
      if (!response.ok || response.body === null) break;
      await readEvents(response.body, onEvent).catch(() => undefined);
    }
    if (!isAnswered) throw new Error('The server ended its answer before it was complete');
  }

  /** Reads the messages that the server sends of its own accord, until the end. A server without such a stream answers 405. */
  async #listen(): Promise<void> {
    const { signal } = this.#closing;
    let lastId: string | undefined;
    while (!signal.aborted) {
      try {
        const resumed = lastId === undefined ? {} : { 'Last-Event-ID': lastId };
        const headers = this.#headers({ Accept: 'text/event-stream', ...resumed });
        const response = await this.#fetch({ headers }, signal);
        if (!response.ok || response.body === null) return;
        await readEvents(response.body, (event) => {
          lastId = event.id ?? lastId;
          this.#take(event.data);
        });
      } catch {
        // It broke, or the gateway ends.
      }
      await delay(RECONNECT_MS, undefined, { ref: false });
    }
  }

  /** Passes a message on, in one line; true if it is the answer to this id. */
  #take(text: string, id?: unknown): boolean {
    if (text.trim() === '') return false;
    const value: unknown = JSON.parse(text);
    // In JSON, line breaks are only white space.
    this.#options.onMessage(`${text.trimEnd().replaceAll(/[\r\n]/g, ' ')}\n`);
    if (!isObject(value) || 'method' in value || value['id'] === undefined) return false;
    const { result } = value;
    if (
      value['id'] === this.#initializeId &&
      isObject(result) &&
      typeof result['protocolVersion'] === 'string'
    )
      this.#version = result['protocolVersion'];
    return value['id'] === id;
  }

  #fail({ id, method }: Message, problem: string): void {
    if (this.#closing.signal.aborted) return;
    this.#options.logger.warn('The MCP server did not take a message', { method, problem });
    if (id === undefined || method === undefined) return;
    const error = { code: UNREACHABLE, message: problem };
    this.#options.onMessage(`${JSON.stringify({ jsonrpc: '2.0', id, error })}\n`);
  }

  #headers(more: Record<string, string> = {}): Record<string, string> {
    return {
      ...this.#options.headers,
      ...more,
      ...(this.#session !== undefined && { 'Mcp-Session-Id': this.#session }),
      ...(this.#version !== undefined && { 'MCP-Protocol-Version': this.#version }),
    };
  }

  /** Redirects are not followed: credentials must not be sent to another host. */
  #fetch(options: RequestInit, signal: AbortSignal): Promise<Response> {
    return fetch(this.#options.url, { ...options, redirect: 'manual', signal });
  }
}
