import { setTimeout as delay } from 'node:timers/promises';
import { timerMs } from '../config.ts';
import { messageOf } from '../errors.ts';
import { isObject } from '../json.ts';
import type { Logger } from '../logger.ts';
import { readText, reasonOf } from '../policy/http-request.ts';
import { EventTooLarge, readEvents, type StreamEvent, type StreamPosition } from './event-stream.ts';
import { Gateway, type GatewayParts } from './gateway.ts';
import { LINE_BYTES_MAX, readLines, writerTo, type Source } from './lines.ts';
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
  const { stdin } = process;
  const toClient = writerTo(process.stdout, {
    isPaused: () => stdin.isPaused(),
    pause: () => [stdin, remote].forEach((source) => source.pause()),
    resume: () => [stdin, remote].forEach((source) => source.resume()),
  });
  const remote = new RemoteServer({
    ...address,
    logger: parts.logger,
    onMessage: (line) => gateway.fromServer(Buffer.from(line)),
  });
  const toServer = (line: Buffer | string): void => remote.send(line.toString());
  const gateway = new Gateway({ ...parts, toClient, toServer });
  process.stdout.on('error', () => stdin.destroy());
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stdin.destroy());
  try {
    await readLines(stdin, (line) => gateway.fromClient(line));
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
  wait?: (ms: number) => Promise<void>;
};

/** How often opening a stream has failed, and the header Retry-After of the last answer. */
type Failed = { failures: number; retryAfter: string | null | undefined };

/** A renewal of the session, for which other messages wait, is not tried again. */
type Attempt = 'first' | 'again' | 'renewal';

type Session = { id?: string; version?: string };

/** A server over Streamable HTTP (MCP, "Transports"): one POST for each message, and a stream for those of the server's own. */
export class RemoteServer implements Source {
  readonly #options: RemoteServerOptions;
  readonly #closing = new AbortController();
  #session: Session = {};
  /** The latest one, which begins the session anew if the server forgets it. */
  #initialize: Message | undefined;
  #renewed: Promise<void> | undefined;
  /** Of the `initialize` of a renewal, whose answer is not for the client. */
  readonly #renewalId = `gatehouse-${crypto.randomUUID()}`;
  /** Messages without an answer keep their order: each is accepted before the next one is sent. */
  #queue: Promise<unknown> = Promise.resolve();
  readonly #posts = new Set<Promise<void>>();
  /** While its answers are not read. */
  #pause: { ended: Promise<void>; end: () => void } | undefined;

  constructor(options: RemoteServerOptions) {
    this.#options = options;
  }

  send(line: string): void {
    const message = JSON.parse(line) as Message;
    this.#queue = this.#queue.then(() => {
      const { acceptMs = ACCEPT_MS } = this.#options;
      const closing = this.#closing.signal;
      const signal = isRequest(message) ? closing : AbortSignal.any([closing, AbortSignal.timeout(acceptMs)]);
      const posted = this.#post(line, message, signal).catch((error: unknown) =>
        this.#fail(message, reasonOf(error)),
      );
      this.#await(posted);
      return isRequest(message) ? undefined : posted;
    });
  }

  isPaused(): boolean {
    return this.#pause !== undefined;
  }

  pause(): void {
    let end = (): void => undefined;
    const ended = new Promise<void>((resolve) => (end = resolve));
    this.#pause ??= { ended, end };
  }

  resume(): void {
    this.#pause?.end();
    this.#pause = undefined;
  }

  /** Waits a moment for answers, and ends the session, as far as the server takes part. */
  async close(): Promise<void> {
    const answered = this.#queue.then(() => Promise.all(this.#posts));
    await Promise.race([answered, delay(END_MS, undefined, { ref: false })]);
    this.#closing.abort();
    await this.#end(this.#session);
  }

  /** For `close`, which waits for it. */
  #await(posted: Promise<void>): void {
    this.#posts.add(posted);
    void posted.finally(() => this.#posts.delete(posted));
  }

  async #end(session: Session): Promise<void> {
    if (session.id === undefined) return;
    const options = { method: 'DELETE', headers: this.#headers({}, session) };
    const ended = this.#fetch(options, AbortSignal.timeout(END_MS)).then(({ body }) => body?.cancel());
    await ended.catch(() => undefined);
  }

  async #post(
    line: string,
    message: Message,
    signal: AbortSignal,
    attempt: Attempt = 'first',
  ): Promise<void> {
    if (this.#renewed && attempt !== 'renewal') await this.#renewed.catch(() => undefined);
    const isBeginning = message.method === 'initialize';
    if (isBeginning) {
      this.#await(this.#end(this.#session));
      [this.#initialize, this.#session] = [message, {}];
    }
    const session = this.#session;
    const hadSession = session.id !== undefined;
    const headers = this.#headers({
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
    });
    const response = await this.#fetch({ method: 'POST', headers, body: line.trimEnd() }, signal);
    // The server forgot the session. Not for a GET: servers without a stream of their own answer 404, too.
    if (response.status === 404 && hadSession && this.#initialize && attempt === 'first') {
      await response.body?.cancel();
      if (session === this.#session) this.#renewed = this.#renew();
      await this.#renewed;
      return this.#post(line, message, signal, 'again');
    }
    const sessionId = response.headers.get('mcp-session-id');
    if (sessionId !== null) session.id = sessionId;
    // The client began another one meanwhile.
    if (isBeginning && session !== this.#session) this.#await(this.#end(session));
    const { body } = response;
    if (!response.ok)
      throw new Error(`The server answered ${response.status}: ${(await this.#text(body)).slice(0, 500)}`);
    if (message.method === 'notifications/initialized')
      this.#listen(session).catch((error: unknown) =>
        this.#options.logger.warn('Messages of the MCP server are not read any more', {
          problem: messageOf(error),
        }),
      );
    const type = response.headers.get('content-type') ?? '';
    const isAnswered =
      type.includes('text/event-stream') && body !== null
        ? await this.#readAnswer(body, message, session, signal)
        : this.#take(await this.#text(body), message.id);
    if (!isAnswered && isRequest(message))
      throw new Error('The server ended its answer before it was complete');
  }

  /** Begins a session as the client did, which does not learn of it. */
  async #renew(): Promise<void> {
    this.#session = {};
    const signal = AbortSignal.any([this.#closing.signal, AbortSignal.timeout(ACCEPT_MS)]);
    const initialize = { ...this.#initialize, id: this.#renewalId };
    const initialized = { jsonrpc: '2.0', method: 'notifications/initialized' };
    for (const message of [initialize, initialized])
      await this.#post(JSON.stringify(message), message, signal, 'renewal');
  }

  /** A stream that breaks before the answer is resumed after its last event, where the server gives ids. */
  async #readAnswer(
    body: ReadableStream<Uint8Array>,
    { id }: Message,
    session: Session,
    signal: AbortSignal,
  ): Promise<boolean> {
    const position: StreamPosition = {};
    let isAnswered = false;
    const onMessage = (text: string): void => {
      if (this.#take(text, id)) isAnswered = true;
    };
    for (let stream: typeof body | undefined = body; stream !== undefined;) {
      await this.#readStream(stream, position, onMessage);
      if (isAnswered || position.lastId === undefined) break;
      await this.#wait(position);
      stream = await this.#open(position, session, signal, RESUME_TRIES_MAX);
    }
    return isAnswered;
  }

  /** Reads the messages that the server sends of its own accord, until the end. A server without such a stream answers 405. */
  async #listen(session: Session): Promise<void> {
    const { signal } = this.#closing;
    const position: StreamPosition = {};
    for (;;) {
      const body = await this.#open(position, session, signal);
      if (body === undefined) return;
      await this.#readStream(body, position, (text) => this.#take(text));
      await this.#wait(position);
    }
  }

  /** Opens a stream of the session, again while the server is down or busy. Undefined if it offers none. */
  async #open(
    position: StreamPosition,
    session: Session,
    signal: AbortSignal,
    triesMax = Infinity,
  ): Promise<ReadableStream<Uint8Array> | undefined> {
    const { lastId } = position;
    const resumed = lastId === undefined ? {} : { 'Last-Event-ID': lastId };
    for (let failures = 1; session === this.#session && !signal.aborted; failures += 1) {
      const headers = this.#headers({ Accept: 'text/event-stream', ...resumed });
      const response = await this.#fetch({ headers }, signal).catch(() => undefined);
      if (response?.ok) return response.body ?? undefined;
      await response?.body?.cancel().catch(() => undefined);
      const isLasting = response !== undefined && response.status < 500 && response.status !== 429;
      if (isLasting || failures === triesMax) return undefined;
      await this.#wait(position, { failures, retryAfter: response?.headers.get('retry-after') });
    }
    return undefined;
  }

  /** Reads the messages of a stream until it ends or breaks. */
  async #readStream(
    body: ReadableStream<Uint8Array>,
    position: StreamPosition,
    onMessage: (text: string) => void,
  ): Promise<void> {
    const onEvent = ({ type, data }: StreamEvent): void => {
      if (type === 'message') onMessage(data);
    };
    await readEvents(this.#chunksOf(body), position, onEvent).catch((error: unknown) => {
      // It would come again.
      if (error instanceof EventTooLarge) throw error;
    });
  }

  #text(body: Response['body']): Promise<string> {
    return readText(this.#chunksOf(body), LINE_BYTES_MAX);
  }

  /** Reads no more while the server is paused. */
  async *#chunksOf(body: Response['body']): AsyncGenerator<Uint8Array> {
    for await (const chunk of body ?? []) {
      yield chunk;
      await this.#pause?.ended;
    }
  }

  /** As long as the server says. After a failure longer each time, and never less than that. */
  async #wait({ retryMs }: StreamPosition, failed?: Failed): Promise<void> {
    const { wait = (ms) => delay(ms, undefined, { ref: false }) } = this.#options;
    if (!failed) return wait(timerMs(retryMs ?? RECONNECT_MS));
    const longer = RECONNECT_MS * 2 ** Math.min(failed.failures, RECONNECT_DOUBLINGS_MAX);
    await wait(timerMs(Math.max(longer, retryMs ?? 0, millisecondsIn(failed.retryAfter ?? ''))));
  }

  /** Passes messages on, in one line; true if one is the answer to this id. */
  #take(text: string, id?: unknown): boolean {
    if (text.trim() === '') return false;
    const value: unknown = JSON.parse(text);
    const messages: unknown[] = Array.isArray(value) ? value : [value];
    const answers = messages.filter(isObject).filter((one) => !('method' in one) && one['id'] !== undefined);
    const begun = answers.find((one) => one['id'] === this.#initialize?.id)?.['result'];
    if (isObject(begun) && typeof begun['protocolVersion'] === 'string')
      this.#session.version = begun['protocolVersion'];
    // In JSON, line breaks are only white space.
    if (!answers.some((one) => one['id'] === this.#renewalId))
      this.#options.onMessage(`${text.trimEnd().replaceAll(/[\r\n]/g, ' ')}\n`);
    return answers.some((one) => one['id'] === id);
  }

  #fail({ id, method }: Message, problem: string): void {
    if (this.#closing.signal.aborted) return;
    this.#options.logger.warn('The MCP server did not take a message', { method, problem });
    if (!isRequest({ id, method })) return;
    const error = { code: UNREACHABLE, message: problem };
    this.#options.onMessage(`${JSON.stringify({ jsonrpc: '2.0', id, error })}\n`);
  }

  #headers(more: Record<string, string>, session = this.#session): Record<string, string> {
    const { id, version } = session;
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

function isRequest({ id, method }: Message): boolean {
  return id !== undefined && method !== undefined;
}

/** Of a header Retry-After: seconds, or a date. */
function millisecondsIn(retryAfter: string): number {
  const ms = /^\d+$/.test(retryAfter) ? Number(retryAfter) * 1_000 : Date.parse(retryAfter) - Date.now();
  return ms > 0 ? ms : 0;
}
