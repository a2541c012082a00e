import { setTimeout as delay } from 'node:timers/promises';
import { messageOf } from '../errors.ts';
import { isObject, parsedJson } from '../json.ts';
import type { Logger } from '../logger.ts';
import { readText, reasonOf } from '../policy/http-request.ts';
import { LINE_BYTES_MAX, type Source } from './lines.ts';
import type { Message } from './message.ts';
import { SessionStream, type Body } from './session-stream.ts';
import { Session, type RemoteAddress } from './session.ts';

/** How long outstanding answers may take once the client is gone. */
const END_MS = 2_000;
/** A message without an answer delays the next one for this long at most. */
const ACCEPT_MS = 10_000;
const UNREACHABLE = -32000;
/** Of a bad answer. */
const SHOWN_CHARS_MAX = 500;

type RemoteServerOptions = RemoteAddress & {
  logger: Logger;
  onMessage: (line: string) => void;
  acceptMs?: number;
  wait?: (ms: number) => Promise<void>;
};

/** A renewal of the session is not retried, because other messages wait for it. */
type Attempt = 'first' | 'again' | 'renewal';

/** A server over Streamable HTTP (MCP, "Transports"): one POST for each message, and a stream for the server's own messages. */
export class RemoteServer implements Source {
  readonly #options: RemoteServerOptions;
  readonly #closing = new AbortController();
  #session: Session;
  /** The latest one, which restarts the session if the server forgets it. */
  #initialize: Message | undefined;
  #renewed: Promise<void> | undefined;
  /** The id of the `initialize` of a renewal, whose answer is not for the client. */
  readonly #renewalId = `gatehouse-${crypto.randomUUID()}`;
  /** Messages without an answer keep their order: each is accepted before the next one is sent. */
  #queue: Promise<unknown> = Promise.resolve();
  readonly #posts = new Set<Promise<void>>();
  /** Set while its answers are not read. */
  #pause: { ended: Promise<void>; end: () => void } | undefined;

  constructor(options: RemoteServerOptions) {
    this.#options = options;
    this.#session = new Session(options);
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

  /** Waits a moment for answers, then ends the session if the server supports it. */
  async close(): Promise<void> {
    const answered = this.#queue.then(() => Promise.all(this.#posts));
    await Promise.race([answered, delay(END_MS, undefined, { ref: false })]);
    this.#closing.abort();
    await this.#session.end();
  }

  /** For `close`, which waits for it. */
  #await(posted: Promise<void>): void {
    this.#posts.add(posted);
    void posted.finally(() => this.#posts.delete(posted));
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
      this.#await(this.#session.end());
      [this.#initialize, this.#session] = [message, new Session(this.#options)];
    }
    const session = this.#session;
    const hadSession = session.id !== undefined;
    const headers = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' };
    const response = await session.fetch({ method: 'POST', headers, body: line.trimEnd() }, signal);
    // The server forgot the session. Not for a GET: servers without a stream of their own also answer 404.
    if (response.status === 404 && hadSession && this.#initialize && attempt === 'first') {
      await response.body?.cancel();
      if (session === this.#session) this.#renewed = this.#renew();
      await this.#renewed;
      return this.#post(line, message, signal, 'again');
    }
    const sessionId = response.headers.get('mcp-session-id');
    if (sessionId !== null) session.id = sessionId;
    // The client has begun another one in the meantime.
    if (isBeginning && session !== this.#session) this.#await(session.end());
    const { body } = response;
    if (!response.ok) throw new Error(refusalOf(response, await this.#text(body), isBeginning));
    if (message.method === 'notifications/initialized') void this.#listen(session);
    const type = response.headers.get('content-type') ?? '';
    const isAnswered =
      type.includes('text/event-stream') && body !== null
        ? await this.#stream(session, signal, message.id).readAnswer(body)
        : this.#take(await this.#text(body), message.id);
    if (!isAnswered && isRequest(message))
      throw new Error('The server ended its answer before it was complete');
  }

  /** Begins a session like the client did, without the client noticing. */
  async #renew(): Promise<void> {
    this.#session = new Session(this.#options);
    const signal = AbortSignal.any([this.#closing.signal, AbortSignal.timeout(ACCEPT_MS)]);
    const initialize = { ...this.#initialize, id: this.#renewalId };
    const initialized = { jsonrpc: '2.0', method: 'notifications/initialized' };
    for (const message of [initialize, initialized])
      await this.#post(JSON.stringify(message), message, signal, 'renewal');
  }

  /** Passes on what the server sends of its own accord. */
  async #listen(session: Session): Promise<void> {
    try {
      await this.#stream(session, this.#closing.signal).listen();
    } catch (error) {
      const problem = messageOf(error);
      this.#options.logger.warn('No longer reading the messages of the MCP server', { problem });
    }
  }

  #stream(session: Session, signal: AbortSignal, id?: unknown): SessionStream {
    return new SessionStream({
      session,
      isCurrent: () => session === this.#session,
      signal,
      chunksOf: (body) => this.#chunksOf(body),
      onMessage: (text) => this.#take(text, id),
      wait: this.#options.wait,
    });
  }

  #text(body: Body | null): Promise<string> {
    return readText(this.#chunksOf(body), LINE_BYTES_MAX);
  }

  /** Stops reading while the server is paused. */
  async *#chunksOf(body: Body | null): AsyncGenerator<Uint8Array> {
    for await (const chunk of body ?? []) {
      yield chunk;
      await this.#pause?.ended;
    }
  }

  /** Passes messages on, in one line; true if one is the answer to this id. */
  #take(text: string, id?: unknown): boolean {
    if (text.trim() === '') return false;
    const value = parsedJson(text);
    if (value === undefined)
      throw new Error(`The server did not answer in JSON: ${text.slice(0, SHOWN_CHARS_MAX)}`);
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
}

function isRequest({ id, method }: Message): boolean {
  return id !== undefined && method !== undefined;
}

function refusalOf({ status, headers }: Response, text: string, isBeginning: boolean): string {
  const location = headers.get('location');
  if (location !== null)
    return `The server redirects to ${location} (${status}). Redirects are not followed: give the right URL`;
  const refusal = `The server answered ${status}: ${text.slice(0, SHOWN_CHARS_MAX)}`;
  // What MCP says that such a server answers ("Transports", "Backwards Compatibility").
  const isOlder = isBeginning && (status === 404 || status === 405);
  return isOlder
    ? `${refusal}. Is it one of the older transport HTTP+SSE? Only Streamable HTTP is supported`
    : refusal;
}
