import { setMaxListeners } from 'node:events';
import {
  ANSWER_BYTES_MAX,
  BATCH_DEFAULTS,
  IN_FLIGHT_MAX,
  PROBLEM_CHARACTERS_MAX,
  RETRY_WAIT_MS_MAX,
} from '../limits.ts';
import type { Logger } from '../logger.ts';
import { urlOf } from '../config.ts';
import type { BatchLimits } from './batch-options.ts';
import { BatchPosts } from './batch-posts.ts';
import { Emitter, type Totals } from './emitter.ts';
import type { Journal, Journals } from './journal.ts';
import type { Loop, Sleep } from './loop.ts';
import type { Outbox, OutboxDeps } from './outbox.ts';
import { Outcomes } from './outcomes.ts';
import { createAgent, postEvent, retryOnce, type Send } from './post-event.ts';
import { recover } from './recovery.ts';
import { SinglePosts } from './single-posts.ts';

const CLOSED =
  'Audit events after shutdown() are not sent. Call it once, when the program ends, or call configure() again';

/** The kind of events that a sender posts: their path, and the service's name for them. */
export type EventStream = { path: string; stream: string };

type SenderOptions = EventStream & {
  baseUrl: string;
  apiKey: string;
  timeoutMs: number;
  /** Undefined: one POST per event. */
  batch: BatchLimits | undefined;
  /** Keeps the events of batches on disk until they are settled. */
  journals?: Journals | undefined;
  logger: Logger;
  loop: Loop;
  sleep: Sleep;
};

export type Counts = { sent: number; failed: number; dropped: number; in_flight: number };

/** The connections of one event loop, and its events that wait or are in flight. */
type Connection = {
  identity: string;
  destroy(): void;
  outbox: Outbox;
  emitter: Emitter;
  journal: Journal | undefined;
  send: SendTo;
  batchPostsOf: (sender: OneSender, limits: BatchLimits) => BatchPosts;
};
type OneSender = Pick<OutboxDeps, 'outcomes' | 'emitter' | 'journal'>;
type SendTo = (path: string, contentType: string, answerCharactersMax?: number) => Send;

/** Sends the events of one API key to one path. No method throws or waits. */
export class Sender {
  readonly #options: SenderOptions;
  readonly #closing = new AbortController();
  readonly #outcomes: Outcomes;
  #connection: Connection;
  readonly #recovered: Promise<void>;
  readonly #warned = new Set<string>();
  readonly #closed = new AbortController();
  #finished: Promise<void> | undefined;

  constructor(options: SenderOptions) {
    this.#options = options;
    this.#outcomes = new Outcomes({
      ...options,
      isKeeping: () => this.#connection.journal?.isUsable ?? false,
    });
    allowListeners(this.#closing.signal);
    this.#connection = this.#connect();
    const { journals, path, logger } = options;
    const { batchPostsOf } = this.#connection;
    this.#recovered =
      journals === undefined
        ? Promise.resolve()
        : recover(journals, {
            target: this.#target,
            path,
            logger,
            batchPostsOf: (sender) => batchPostsOf(sender, BATCH_DEFAULTS),
            report: (emitterId, totals) => this.#report(emitterId, totals),
          });
  }

  /** Builds the body synchronously, so that it shows the current state, unless the event is dropped. */
  emit(bodyFrom: () => string): void {
    if (this.isClosed) return;
    if (!this.#options.loop.isRunning()) return this.warnOfLoop();
    if (this.#options.loop.identity() !== this.#connection.identity) this.#connection = this.#connect();
    const { outbox, emitter, journal } = this.#connection;
    if (outbox.tryAdd(bodyFrom, emitter.next())) return;
    this.#outcomes.drop(outbox.full);
    journal?.append();
  }

  /** Warns once that synchronous calls are not recorded. */
  warnOfLoop(): void {
    this.#warnOnce('No running event loop: audit events of synchronous calls are not sent');
  }

  /** Warns once if the sender is closed. */
  warnOfShutdown(): void {
    if (this.isClosed) this.#warnOnce(CLOSED);
  }

  #warnOnce(message: string): void {
    if (this.#warned.has(message)) return;
    this.#warned.add(message);
    this.#outcomes.warn(message);
  }

  get isClosed(): boolean {
    return this.#closed.signal.aborted;
  }

  /** Unsettled events in batches. They are sent before the program ends. Single posts and events in a journal are not. */
  get batched(): number {
    const { size, isHeldUp } = this.#connection.outbox;
    return this.#options.batch === undefined || isHeldUp ? 0 : size;
  }

  counts(): Counts {
    return { ...this.#outcomes.counts(), in_flight: this.#connection.outbox.size };
  }

  /** Accepts no more events. Those in flight continue. */
  close(): void {
    this.#closed.abort();
  }

  drain(): Promise<void> {
    return this.#connection.outbox.drain();
  }

  /** For a closed sender: drains it and reports its totals to the service. Runs once, however often it is called. */
  finish(): Promise<void> {
    return (this.#finished ??= Promise.all([this.drain(), this.#recovered]).then(async () => {
      const { emitter, journal, outbox } = this.#connection;
      // The next start sends the events that are kept, and reports then.
      if (outbox.isHeldUp) return;
      if (await this.#report(emitter.id, emitter.totals())) journal?.remove();
    }));
  }

  /** Without the report the service shows a sender that ended without closing. False if it does not answer. */
  async #report(emitterId: string, totals: Totals): Promise<boolean> {
    if (totals.emitted === 0 || this.#closing.signal.aborted) return false;
    const post = this.#connection.send(`/v1/audit/emitters/${emitterId}/close`, 'application/json');
    const body = JSON.stringify({ stream: this.#options.stream, ...totals });
    const { kind } = await post(body, this.#closing.signal);
    return kind === 'accepted' || kind === 'rejected';
  }

  /** Aborts what is in flight and closes every connection. */
  destroy(): void {
    this.#connection.outbox.discard();
    this.#closing.abort();
    this.#connection.destroy();
  }

  /** Identifies where the events go: a journal is sent to no other service, and with no other key. */
  get #target(): string[] {
    const { baseUrl, apiKey, path } = this.#options;
    return [baseUrl, apiKey, path];
  }

  #connect(): Connection {
    const { loop, batch, sleep, baseUrl, path, journals, ...target } = this.#options;
    const agent = createAgent(baseUrl, IN_FLIGHT_MAX);
    const waitMs = Math.min(target.timeoutMs, RETRY_WAIT_MS_MAX);
    const send: SendTo = (to, contentType, answerCharactersMax = PROBLEM_CHARACTERS_MAX) => {
      const url = urlOf(baseUrl, to);
      return retryOnce(postEvent({ ...target, url, contentType, answerCharactersMax, agent }), {
        waitMs,
        sleep,
      });
    };
    const common = { send: send(path, 'application/json'), signal: this.#closing.signal };
    const sendBatch = send(`${path}/batch`, 'application/x-ndjson', ANSWER_BYTES_MAX);
    const batchPostsOf = (sender: OneSender, limits: BatchLimits): BatchPosts =>
      new BatchPosts({ ...common, ...sender, sendBatch, limits, sleep, closed: this.#closed.signal });
    const outcomes = this.#outcomes;
    const emitter = new Emitter(() => outcomes.counts());
    const journal = batch && journals?.open(emitter, this.#target);
    const sender = { outcomes, emitter, journal };
    const outbox = batch ? batchPostsOf(sender, batch) : new SinglePosts({ ...common, ...sender });
    return {
      identity: loop.identity(),
      destroy: () => agent.destroy(),
      outbox,
      emitter,
      journal,
      send,
      batchPostsOf,
    };
  }
}

/** Every POST in flight listens; older versions of Node warn of a leak from the 11th listener on. */
function allowListeners(signal: AbortSignal): void {
  try {
    setMaxListeners(0, signal);
  } catch {
    // The signal of a DOM environment such as jsdom, which does not warn.
  }
}
