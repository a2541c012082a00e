import { setMaxListeners } from 'node:events';
import { ANSWER_BYTES_MAX, IN_FLIGHT_MAX, PROBLEM_CHARACTERS_MAX, RETRY_WAIT_MS_MAX } from '../limits.ts';
import type { Logger } from '../logger.ts';
import type { BatchLimits } from './batch-options.ts';
import { BatchPosts } from './batch-posts.ts';
import type { Loop, Sleep } from './loop.ts';
import type { Outbox } from './outbox.ts';
import { Outcomes } from './outcomes.ts';
import { createAgent, postEvent, retryOnce, type Send } from './post-event.ts';
import { SinglePosts } from './single-posts.ts';

type SenderOptions = {
  url: string;
  path: string;
  apiKey: string;
  timeoutMs: number;
  /** Undefined: one POST per event. */
  batch: BatchLimits | undefined;
  logger: Logger;
  loop: Loop;
  sleep: Sleep;
};

export type Counts = { sent: number; failed: number; dropped: number; in_flight: number };

/** The connections, and the events that wait or are in flight, which belong to one event loop. */
type Connection = { identity: string; destroy(): void; outbox: Outbox };

/** Sends the events of one API key to one path. No method throws or waits. */
export class Sender {
  readonly #options: SenderOptions;
  readonly #closing = new AbortController();
  readonly #outcomes: Outcomes;
  #connection: Connection;
  #hasWarnedOfLoop = false;
  #isClosed = false;

  constructor(options: SenderOptions) {
    this.#options = options;
    this.#outcomes = new Outcomes(options);
    // Every POST in flight listens; older versions of Node warn of a leak from the 11th listener on.
    setMaxListeners(0, this.#closing.signal);
    this.#connection = this.#connect();
  }

  /** Builds the body synchronously, so that it says what is true now, unless the event is dropped. */
  emit(bodyFrom: () => string): void {
    if (this.#isClosed) return;
    if (!this.#options.loop.isRunning()) return this.warnOfLoop();
    if (this.#options.loop.identity() !== this.#connection.identity) this.#connection = this.#connect();
    const { outbox } = this.#connection;
    if (!outbox.tryAdd(bodyFrom)) this.#outcomes.drop(outbox.full);
  }

  /** Warns once that synchronous calls are not recorded. */
  warnOfLoop(): void {
    if (this.#hasWarnedOfLoop) return;
    this.#hasWarnedOfLoop = true;
    this.#outcomes.warn('No running event loop: audit events of synchronous calls are not sent');
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Events in batches that are not settled. They are sent before the program ends; single posts are not. */
  get batched(): number {
    return this.#options.batch === undefined ? 0 : this.#connection.outbox.size;
  }

  counts(): Counts {
    return { ...this.#outcomes.counts(), in_flight: this.#connection.outbox.size };
  }

  /** Takes no more events; those in flight go on. */
  close(): void {
    this.#isClosed = true;
  }

  drain(): Promise<void> {
    return this.#connection.outbox.drain();
  }

  /** Aborts what is in flight and closes every connection. */
  destroy(): void {
    this.#connection.outbox.discard();
    this.#closing.abort();
    this.#connection.destroy();
  }

  #connect(): Connection {
    const { loop, batch, sleep, ...target } = this.#options;
    const agent = createAgent(target.url, IN_FLIGHT_MAX);
    const waitMs = Math.min(target.timeoutMs, RETRY_WAIT_MS_MAX);
    const sendTo = (url: string, contentType: string, answerCharactersMax: number): Send =>
      retryOnce(postEvent({ ...target, url, contentType, answerCharactersMax, agent }), { waitMs, sleep });
    const deps = {
      outcomes: this.#outcomes,
      send: sendTo(target.url, 'application/json', PROBLEM_CHARACTERS_MAX),
      signal: this.#closing.signal,
    };
    const outbox =
      batch === undefined
        ? new SinglePosts(deps)
        : new BatchPosts({
            ...deps,
            sendBatch: sendTo(`${target.url}/batch`, 'application/x-ndjson', ANSWER_BYTES_MAX),
            limits: batch,
          });
    return { identity: loop.identity(), destroy: () => agent.destroy(), outbox };
  }
}
