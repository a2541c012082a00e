import { setTimeout as delay } from 'node:timers/promises';
import { timerMs } from '../config.ts';
import { EventTooLarge, readEvents, type StreamEvent, type StreamPosition } from './event-stream.ts';
import type { Session } from './session.ts';

/** Doubles after each failure, up to this many times. */
const RECONNECT_MS = 1_000;
const RECONNECT_DOUBLINGS_MAX = 5;
/** Half a minute, so that a server has time to start again. */
const RESUME_TRIES_MAX = 5;

export type Body = ReadableStream<Uint8Array>;

type StreamOptions = {
  session: Session;
  /** A stream of a session that was replaced is not opened again. */
  isCurrent: () => boolean;
  signal: AbortSignal;
  chunksOf: (body: Body) => AsyncIterable<Uint8Array>;
  /** Whether the message is the expected answer. */
  onMessage: (text: string) => boolean;
  wait?: ((ms: number) => Promise<void>) | undefined;
};

/** How often opening a stream has failed, and the header Retry-After of the last answer. */
type Failed = { failures: number; retryAfter: string | null | undefined };

/** A stream of the messages of a session. When it is reopened, it continues after its last event (MCP, "Resumability and Redelivery"). */
export class SessionStream {
  readonly #options: StreamOptions;
  readonly #position: StreamPosition = {};

  constructor(options: StreamOptions) {
    this.#options = options;
  }

  /** Reads the answer to a POST. If the stream breaks before the answer, it is resumed, provided that the server sends ids. */
  async readAnswer(answer: Body): Promise<boolean> {
    for (let body: Body | undefined = answer; body !== undefined; body = await this.#open(RESUME_TRIES_MAX)) {
      if (await this.#read(body)) return true;
      if (this.#position.lastId === undefined) return false;
      await this.#wait();
    }
    return false;
  }

  /** Reads the messages that the server sends of its own accord, until the end. A server without such a stream answers 405. */
  async listen(): Promise<void> {
    for (let body = await this.#open(); body !== undefined; body = await this.#open()) {
      await this.#read(body);
      await this.#wait();
    }
  }

  /** Retries while the server is down or busy. Undefined if the server offers no stream. */
  async #open(triesMax = Infinity): Promise<Body | undefined> {
    const { session, isCurrent, signal } = this.#options;
    const { lastId } = this.#position;
    const resumed = lastId === undefined ? {} : { 'Last-Event-ID': lastId };
    const headers = { Accept: 'text/event-stream', ...resumed };
    for (let failures = 1; isCurrent() && !signal.aborted; failures += 1) {
      const response = await session.fetch({ headers }, signal).catch(() => undefined);
      if (response?.ok) return response.body ?? undefined;
      await response?.body?.cancel().catch(() => undefined);
      const isLasting = response !== undefined && response.status < 500 && response.status !== 429;
      if (isLasting || failures === triesMax) return undefined;
      await this.#wait({ failures, retryAfter: response?.headers.get('retry-after') });
    }
    return undefined;
  }

  /** Reads until the stream ends or breaks. */
  async #read(body: Body): Promise<boolean> {
    const { chunksOf, onMessage } = this.#options;
    let isAnswered = false;
    const onEvent = ({ type, data }: StreamEvent): void => {
      if (type === 'message' && onMessage(data)) isAnswered = true;
    };
    await readEvents(chunksOf(body), this.#position, onEvent).catch((error: unknown) => {
      // It would be sent again.
      if (error instanceof EventTooLarge) throw error;
    });
    return isAnswered;
  }

  /** As long as the server says. After a failure, the wait grows each time, and is never shorter than that. */
  async #wait(failed?: Failed): Promise<void> {
    const { wait = (ms) => delay(ms, undefined, { ref: false }) } = this.#options;
    const { retryMs } = this.#position;
    if (!failed) return wait(timerMs(retryMs ?? RECONNECT_MS));
    const longer = RECONNECT_MS * 2 ** Math.min(failed.failures, RECONNECT_DOUBLINGS_MAX);
    await wait(timerMs(Math.max(longer, retryMs ?? 0, millisecondsIn(failed.retryAfter ?? ''))));
  }
}

/** The delay of a Retry-After header: seconds, or a date. */
function millisecondsIn(retryAfter: string): number {
  const ms = /^\d+$/.test(retryAfter) ? Number(retryAfter) * 1_000 : Date.parse(retryAfter) - Date.now();
  return ms > 0 ? ms : 0;
}
