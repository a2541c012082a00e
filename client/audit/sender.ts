import { setMaxListeners } from 'node:events';
import { ANSWER_BYTES_MAX, IN_FLIGHT_MAX, PROBLEM_CHARACTERS_MAX, RETRY_WAIT_MS_MAX } from '../limits.ts';
import type { Logger } from '../logger.ts';
import { urlOf } from '../config.ts';
import type { BatchLimits } from './batch-options.ts';
import { BatchPosts } from './batch-posts.ts';
import { Emitter } from './emitter.ts';
import type { Loop, Sleep } from './loop.ts';
import type { Outbox } from './outbox.ts';
import { Outcomes } from './outcomes.ts';
import { createAgent, postEvent, retryOnce, type Send } from './post-event.ts';
import { SinglePosts } from './single-posts.ts';

/** What a sender sends, and how the service names it. */
export type EventStream = { path: string; stream: string };

type SenderOptions = EventStream & {
  baseUrl: string;
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
type Connection = { identity: string; destroy(): void; outbox: Outbox; emitter: Emitter; send: SendTo };
type SendTo = (path: string, contentType: string, answerCharactersMax?: number) => Send;

/** Sends the events of one API key to one path. No method throws or waits. */
export class Sender {
  readonly #options: SenderOptions;
  readonly #closing = new AbortController();
  readonly #outcomes: Outcomes;
  #connection: Connection;
  #hasWarnedOfLoop = false;
  #isClosed = false;
  #finished: Promise<void> | undefined;

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
    const { outbox, emitter } = this.#connection;
    if (!outbox.tryAdd(bodyFrom, emitter.next())) this.#outcomes.drop(outbox.full);
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

  /** For a closed sender: drains it, and tells the service how many events there were. Once, however often it is called. */
  finish(): Promise<void> {
    return (this.#finished ??= this.drain().then(() => this.#report()));
  }

  /** No failure matters: without the report the service shows a sender that ended without closing. */
  async #report(): Promise<void> {
    const { emitter, send } = this.#connection;
    const totals = emitter.totals();
    if (totals.emitted === 0 || this.#closing.signal.aborted) return;
    const post = send(`/v1/audit/emitters/${emitter.id}/close`, 'application/json');
    await post(JSON.stringify({ stream: this.#options.stream, ...totals }), this.#closing.signal);
  }

  /** Aborts what is in flight and closes every connection. */
  destroy(): void {
    this.#connection.outbox.discard();
    this.#closing.abort();
    this.#connection.destroy();
  }

  #connect(): Connection {
    const { loop, batch, sleep, baseUrl, path, ...target } = this.#options;
    const agent = createAgent(baseUrl, IN_FLIGHT_MAX);
    const waitMs = Math.min(target.timeoutMs, RETRY_WAIT_MS_MAX);
    const send: SendTo = (to, contentType, answerCharactersMax = PROBLEM_CHARACTERS_MAX) => {
      const url = urlOf(baseUrl, to);
      return retryOnce(postEvent({ ...target, url, contentType, answerCharactersMax, agent }), {
        waitMs,
        sleep,
      });
    };
    const emitter = new Emitter(() => this.#outcomes.counts());
    const deps = {
      outcomes: this.#outcomes,
      emitter,
      send: send(path, 'application/json'),
      signal: this.#closing.signal,
    };
    const outbox =
      batch === undefined
        ? new SinglePosts(deps)
        : new BatchPosts({
            ...deps,
            sendBatch: send(`${path}/batch`, 'application/x-ndjson', ANSWER_BYTES_MAX),
            limits: batch,
          });
    return { identity: loop.identity(), destroy: () => agent.destroy(), outbox, emitter, send };
  }
}
