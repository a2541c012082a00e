import { setTimeout as delay } from 'node:timers/promises';
import { messageOf } from '../errors.ts';
import { isObject } from '../json.ts';
import type { Logger } from '../logger.ts';
import { readEvents, type StreamEvent } from './event-stream.ts';
import { Gateway, type GatewayParts } from './gateway.ts';
import { readLines, writerTo } from './lines.ts';
import type { Message } from './message.ts';

/** A server over Streamable HTTP. */
export type RemoteAddress = {
  url: string;
  /** Sent with every request; for the server's credentials. */
  headers: Readonly<Record<string, string>>;
};

/** Doubles after each failure, up to this many times. */
const RECONNECT_MS = 1_000;
const RECONNECT_DOUBLINGS_MAX = 5;
/** Half a minute, so that a server has time to start again. */
const RESUME_TRIES_MAX = 5;
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
  reconnectMs?: number;
};

type Session = { id?: string; version?: string };

/** A server over Streamable HTTP (MCP, "Transports"): one POST for each message, and a stream for those of the server's own. */
export class RemoteServer {
  readonly #options: RemoteServerOptions;
  readonly #closing = new AbortController();
  #session: Session = {};
  #initializeId: unknown;
  /** Messages without an answer keep their order: each is accepted before the next one is sent. */
  #queue: Promise<unknown> = Promise.resolve();
  readonly #posts = new Set<Promise<void>>();

  constructor(options: RemoteServerOptions) {
    this.#options = options;
  }

  send(line: string): void {
    const message = JSON.parse(line) as Message;
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
    if (this.#session.id === undefined) return;
    const options = { method: 'DELETE', headers: this.#headers(), signal: AbortSignal.timeout(END_MS) };
    await fetch(this.#options.url, options).catch(() => undefined);
  }

  async #post(line: string, message: Message, signal: AbortSignal): Promise<void> {
    if (message.method === 'initialize') [this.#initializeId, this.#session] = [message.id, {}];
    const session = this.#session;
    const headers = this.#headers({
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
    });
    const response = await this.#fetch({ method: 'POST', headers, body: line.trimEnd() }, signal);
    // Not for a GET: servers without a stream of their own answer 404, too.
    if (response.status === 404 && session.id !== undefined && session === this.#session) this.#session = {};
    const sessionId = response.headers.get('mcp-session-id');
    if (sessionId !== null) session.id = sessionId;
    if (!response.ok)
      throw new Error(`The server answered ${response.status}: ${(await response.text()).slice(0, 500)}`);
    if (message.method === 'notifications/initialized') void this.#listen(session);
    const type = response.headers.get('content-type') ?? '';
    if (type.includes('text/event-stream') && response.body !== null)
      await this.#readAnswer(response.body, message, session, signal);
    else this.#take(await response.text());
  }

  /** A stream that breaks before the answer is resumed after its last event, where the server gives ids. */
  async #readAnswer(
    body: ReadableStream<Uint8Array>,
    { id }: Message,
    session: Session,
    signal: AbortSignal,
  ): Promise<void> {
    let isAnswered = false;
    const onMessage = (text: string): void => {
      if (this.#take(text, id)) isAnswered = true;
    };
    let lastId = await this.#readStream(body, onMessage);
    while (!isAnswered && lastId !== undefined) {
      await this.#wait();
      const resumed = await this.#open(lastId, session, signal, RESUME_TRIES_MAX);
      if (resumed === undefined) break;
      lastId = (await this.#readStream(resumed, onMessage)) ?? lastId;
    }
    if (!isAnswered) throw new Error('The server ended its answer before it was complete');
  }

  /** Reads the messages that the server sends of its own accord, until the end. A server without such a stream answers 405. */
  async #listen(session: Session): Promise<void> {
    const { signal } = this.#closing;
    let lastId: string | undefined;
    for (;;) {
      const body = await this.#open(lastId, session, signal);
      if (body === undefined) return;
      lastId = (await this.#readStream(body, (text) => this.#take(text))) ?? lastId;
      await this.#wait();
    }
  }

  /** Opens a stream of the session, again while the server is down or busy. Undefined if it offers none. */
  async #open(
    lastId: string | undefined,
    session: Session,
    signal: AbortSignal,
    triesMax = Infinity,
  ): Promise<ReadableStream<Uint8Array> | undefined> {
    const resumed = lastId === undefined ? {} : { 'Last-Event-ID': lastId };
    for (let failures = 1; session === this.#session && !signal.aborted; failures += 1) {
      const headers = this.#headers({ Accept: 'text/event-stream', ...resumed });
      const response = await this.#fetch({ headers }, signal).catch(() => undefined);
      if (response?.ok) return response.body ?? undefined;
      await response?.body?.cancel().catch(() => undefined);
      const isLasting = response !== undefined && response.status < 500 && response.status !== 429;
      if (isLasting || failures === triesMax) return undefined;
      await this.#wait(failures);
    }
    return undefined;
  }

  /** Reads the messages of a stream until it ends or breaks. Resolves with the id of its last event. */
  async #readStream(
    body: ReadableStream<Uint8Array>,
    onMessage: (text: string) => void,
  ): Promise<string | undefined> {
    let lastId: string | undefined;
    const onEvent = ({ id, type, data }: StreamEvent): void => {
      lastId = id;
      if (type === 'message') onMessage(data);
    };
    await readEvents(body, onEvent).catch(() => undefined);
    return lastId;
  }

  async #wait(failures = 0): Promise<void> {
    const { reconnectMs = RECONNECT_MS } = this.#options;
    const factor = 2 ** Math.min(failures, RECONNECT_DOUBLINGS_MAX);
    await delay(reconnectMs * factor, undefined, { ref: false });
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
      this.#session.version = result['protocolVersion'];
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
    const { id, version } = this.#session;
    return {
      ...this.#options.headers,
      ...more,
      ...(id !== undefined && { 'Mcp-Session-Id': id }),
      ...(version !== undefined && { 'MCP-Protocol-Version': version }),
    };
  }

  /** Redirects are not followed: credentials must not be sent to another host. */
  #fetch(options: RequestInit, signal: AbortSignal): Promise<Response> {
    return fetch(this.#options.url, { ...options, redirect: 'manual', signal });
  }
}
