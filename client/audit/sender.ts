import { setMaxListeners } from 'node:events';
import { DROP_WARNING_EVERY, EVENT_CHARACTERS_MAX, IN_FLIGHT_MAX, RETRY_WAIT_MS_MAX } from '../limits.ts';
import type { Logger } from '../logger.ts';
import { messageOf } from '../message-of.ts';
import { InFlight } from './in-flight.ts';
import { nextTurn, type Loop } from './loop.ts';
import { createPool, postEvent, type Pool } from './post-event.ts';
import { retryOnce } from './retry-once.ts';
import type { Send, SendResult, Sleep } from './send.ts';

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

/** What belongs to one event loop, and is replaced as one when another is met. */
type Guard = { identity: string; inFlight: InFlight; pool: Pool; send: Send };

/** Sends the events of one key to one path. No call of it throws, waits or changes anything but its counts. */
export class Sender {
  readonly #options: SenderOptions;
  readonly #closing = new AbortController();
  #guard: Guard;
  #counts = { sent: 0, failed: 0, dropped: 0 };
  #hasWarnedOfLoop = false;
  #isClosed = false;

  constructor(options: SenderOptions) {
    this.#options = options;
    // Every event in flight listens, which older versions of Node take for a leak from the 11th on.
    setMaxListeners(0, this.#closing.signal);
    this.#guard = createGuard(options);
  }

  /** Takes a slot, then builds the body at once, so that it says what was true at this moment. */
  emit(bodyFrom: () => string): void {
    if (this.#isClosed) return;
    if (!this.#options.loop.isRunning()) return this.warnOfLoop();
    this.#rebuildInAnotherLoop();
    const { inFlight, send } = this.#guard;
    if (!inFlight.tryStart(() => this.#deliver(bodyFrom, send))) this.#drop();
  }

  /** Spec 6.2: a synchronous entry point emits nothing, and says so once. */
  warnOfLoop(): void {
    if (this.#hasWarnedOfLoop) return;
    this.#hasWarnedOfLoop = true;
    this.#warn('No running event loop: audit events of synchronous calls are not sent');
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  counts(): Counts {
    return { ...this.#counts, in_flight: this.#guard.inFlight.size };
  }

  /** Takes no more events; those in flight go on. */
  close(): void {
    this.#isClosed = true;
  }

  drain(): Promise<void> {
    return this.#guard.inFlight.drain();
  }

  /** Gives up on what is still in flight and closes every connection. */
  destroy(): void {
    this.#closing.abort();
    this.#guard.pool.destroy();
  }

  #rebuildInAnotherLoop(): void {
    if (this.#options.loop.identity() !== this.#guard.identity) this.#guard = createGuard(this.#options);
  }

  async #deliver(bodyFrom: () => string, send: Send): Promise<void> {
    try {
      const body = bodyFrom();
      if (body.length > EVENT_CHARACTERS_MAX) throw new Error('it is too large to be sent');
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

function createGuard(options: SenderOptions): Guard {
  const pool = createPool(options.url, IN_FLIGHT_MAX);
  const waitMs = Math.min(options.timeoutMs, RETRY_WAIT_MS_MAX);
  const send = retryOnce(postEvent({ ...options, pool }), { waitMs, sleep: options.sleep });
  return { identity: options.loop.identity(), inFlight: new InFlight(IN_FLIGHT_MAX), pool, send };
}
