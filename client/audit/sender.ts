import { setMaxListeners } from 'node:events';
import { DROP_WARNING_EVERY, EVENT_CHARACTERS_MAX, IN_FLIGHT_MAX, RETRY_WAIT_MS_MAX } from '../limits.ts';
import type { Logger } from '../logger.ts';
import { messageOf } from '../errors.ts';
import { InFlight } from './in-flight.ts';
import { nextTurn, type Loop, type Sleep } from './loop.ts';
import { createAgent, postEvent, retryOnce, type Send, type SendResult } from './post-event.ts';

type SenderOptions = {
  url: string;
  path: string;
  apiKey: string;
  timeoutMs: number;
  logger: Logger;
  loop: Loop;
  sleep: Sleep;
};

export type Counts = { sent: number; failed: number; dropped: number; in_flight: number };

/** The connections and the limit of sends in flight, which belong to one event loop. */
type Connection = ReturnType<typeof connect>;

/** Sends the events of one API key to one path. No method throws or waits. */
export class Sender {
  readonly #options: SenderOptions;
  readonly #closing = new AbortController();
  #connection: Connection;
  #counts = { sent: 0, failed: 0, dropped: 0 };
  #hasWarnedOfLoop = false;
  #isClosed = false;

  constructor(options: SenderOptions) {
    this.#options = options;
    // Every event in flight listens; older versions of Node warn of a leak from the 11th listener on.
    setMaxListeners(0, this.#closing.signal);
    this.#connection = connect(options);
  }

  /** Builds the body synchronously, so that it says what is true now, but only once it has a slot. */
  emit(bodyFrom: () => string): void {
    if (this.#isClosed) return;
    if (!this.#options.loop.isRunning()) return this.warnOfLoop();
    if (this.#options.loop.identity() !== this.#connection.identity)
      this.#connection = connect(this.#options);
    const { inFlight, send } = this.#connection;
    if (!inFlight.tryStart(() => this.#deliver(bodyFrom, send))) this.#drop();
  }

  /** Warns once that synchronous calls are not recorded. */
  warnOfLoop(): void {
    if (this.#hasWarnedOfLoop) return;
    this.#hasWarnedOfLoop = true;
    this.#warn('No running event loop: audit events of synchronous calls are not sent');
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  counts(): Counts {
    return { ...this.#counts, in_flight: this.#connection.inFlight.size };
  }

  /** Takes no more events; those in flight go on. */
  close(): void {
    this.#isClosed = true;
  }

  drain(): Promise<void> {
    return this.#connection.inFlight.drain();
  }

  /** Aborts what is in flight and closes every connection. */
  destroy(): void {
    this.#closing.abort();
    this.#connection.agent.destroy();
  }

  async #deliver(bodyFrom: () => string, send: Send): Promise<void> {
    try {
      const body = bodyFrom();
      if (body.length > EVENT_CHARACTERS_MAX) throw new Error('the event is too large');
      await nextTurn();
      this.#settle(await send(body, this.#closing.signal));
    } catch (error) {
      this.#counts.failed += 1;
      this.#warn('Audit event could not be built; event dropped', { problem: messageOf(error) });
    }
  }

  #settle(result: SendResult): void {
    if (result.kind === 'accepted') {
      this.#counts.sent += 1;
      return;
    }
    this.#counts.failed += 1;
    switch (result.kind) {
      case 'rejected':
        return this.#warn(`Audit ingest error ${result.status}`, { problem: result.problem });
      case 'retryable':
        return this.#warn(`Audit ingest still unavailable (${result.status}) after one retry; event dropped`);
      case 'unreachable':
        return this.#warn('Audit endpoint unreachable; event dropped', { problem: result.problem });
    }
  }

  #drop(): void {
    this.#counts.dropped += 1;
    const { dropped } = this.#counts;
    if (dropped !== 1 && dropped % DROP_WARNING_EVERY !== 0) return;
    this.#warn(`Audit event dropped: ${IN_FLIGHT_MAX} are in flight already`, { dropped });
  }

  #warn(message: string, context: Record<string, unknown> = {}): void {
    this.#options.logger.warn(message, { path: this.#options.path, ...context });
  }
}

function connect({ loop, ...options }: SenderOptions) {
  const agent = createAgent(options.url, IN_FLIGHT_MAX);
  const waitMs = Math.min(options.timeoutMs, RETRY_WAIT_MS_MAX);
  const send = retryOnce(postEvent({ ...options, agent }), { waitMs, sleep: options.sleep });
  return { identity: loop.identity(), inFlight: new InFlight(IN_FLIGHT_MAX), agent, send };
}
