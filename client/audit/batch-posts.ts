import { clearTimeout, setTimeout } from 'node:timers';
import {
  BATCH_BYTES_MAX,
  BATCH_RANGES_MAX,
  IN_FLIGHT_MAX,
  PENDING_BYTES_MAX,
  RESEND_WAIT_MS,
  RESEND_WAIT_MS_MAX,
} from '../limits.ts';
import { rejectionsFrom } from './batch-answer.ts';
import type { BatchLimits } from './batch-options.ts';
import type { EventNumber } from './emitter.ts';
import { bytesOf, EventQueue, type QueuedEvent } from './event-queue.ts';
import { InFlight } from './in-flight.ts';
import { nextTurn, type Sleep } from './loop.ts';
import type { Outbox, OutboxDeps } from './outbox.ts';
import type { Send } from './post-event.ts';

type BatchDeps = OutboxDeps & {
  sendBatch: Send;
  limits: BatchLimits;
  sleep: Sleep;
  /** Aborted when nothing may be sent again. */
  closed: AbortSignal;
};

/** The service does not have the call. */
const NO_SUCH_CALL: readonly number[] = [404, 405];
const TOO_LARGE = 413;

/** Gathers events and posts them together; drops events while too many are waiting. */
export class BatchPosts implements Outbox {
  readonly full: string;
  readonly #deps: BatchDeps;
  readonly #waiting: EventQueue;
  readonly #inFlight = new InFlight(IN_FLIGHT_MAX, () => this.#schedule());
  #eventsMax: number;
  #bytesMax = BATCH_BYTES_MAX;
  #isBatching = true;
  readonly #sending = new Set<readonly QueuedEvent[]>();
  /** The highest number so far. */
  #last = 0;
  /** How many of the waiting events, from the first, are due now. */
  #due = 0;
  #timer: NodeJS.Timeout | undefined;
  #isScheduled = false;
  #isHeldUp = false;
  #resending: Promise<void> | undefined;
  #isDiscarded = false;

  constructor(deps: BatchDeps) {
    this.#deps = deps;
    const { maxEvents, maxPending } = deps.limits;
    this.full = `${maxPending} events or 16 MiB of them are waiting already. batch.maxPending sets how many may`;
    this.#waiting = new EventQueue({ eventsMax: maxPending, bytesMax: PENDING_BYTES_MAX });
    this.#eventsMax = Math.min(maxEvents, maxPending);
  }

  get size(): number {
    return [...this.#sending].reduce((sum, events) => sum + events.length, this.#waiting.length);
  }

  tryAdd(bodyFrom: () => string, number: EventNumber): boolean {
    if (this.#waiting.isFull) return false;
    const { outcomes, journal } = this.#deps;
    const body = outcomes.built(bodyFrom);
    if (body !== undefined && !this.#waiting.tryPush(body, number)) return false;
    this.#last = number.sequence;
    journal?.append(body);
    if (body === undefined) return true;
    this.#timer ??= setTimeout(() => this.#sendAll(), this.#deps.limits.maxWaitMs).unref();
    this.#schedule();
    return true;
  }

  get isHeldUp(): boolean {
    return this.#isHeldUp;
  }

  async drain(): Promise<void> {
    this.#isHeldUp = false;
    const last = this.#last;
    // Does not wait until all are settled: under load there are always others.
    const isUnsettled = ([first]: readonly QueuedEvent[]): boolean => (first?.sequence ?? Infinity) <= last;
    while ([this.#waiting.events, ...this.#sending].some(isUnsettled)) {
      this.#sendAll();
      await nextTurn();
      await this.#inFlight.drain();
      // The others end, and no more are started.
      if (this.#isHeldUp) return this.#inFlight.drain();
    }
  }

  /** Like `drain`, but waits until the service accepts what is held up, or nothing may be sent again. */
  async drainPatiently(): Promise<void> {
    await this.drain();
    await this.#resending;
  }

  discard(): void {
    this.#isDiscarded = true;
    const events = this.#waiting.length;
    if (events === 0) return;
    this.#waiting.take({ eventsMax: events, bytesMax: Infinity });
    this.#deps.outcomes.lose(events, 'Audit events were still waiting at shutdown');
  }

  /** Makes every waiting event due. */
  #sendAll(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#due = this.#waiting.length;
    this.#schedule();
  }

  get #isReady(): boolean {
    const { length, bytes } = this.#waiting;
    const isBatchFull = length >= this.#eventsMax || bytes >= this.#bytesMax;
    const isDue = length > 0 && (this.#due > 0 || isBatchFull) && !this.#isHeldUp;
    // One batch tests whether the service is back.
    return isDue && this.#inFlight.size < (this.#resending ? 1 : IN_FLIGHT_MAX);
  }

  /** One batch per turn of the loop, so that the agent's own work gets its turns. */
  #schedule(): void {
    if (this.#isScheduled || !this.#isReady) return;
    this.#isScheduled = true;
    void nextTurn().then(() => {
      this.#isScheduled = false;
      if (this.#isReady) this.#start();
      this.#schedule();
    });
  }

  #start(): void {
    const limits = { eventsMax: this.#eventsMax, bytesMax: this.#bytesMax, rangesMax: BATCH_RANGES_MAX };
    const events = this.#waiting.take(limits);
    this.#due = Math.max(0, this.#due - events.length);
    if (this.#waiting.length === 0) {
      clearTimeout(this.#timer);
      this.#timer = undefined;
    }
    this.#sending.add(events);
    this.#inFlight.tryStart(() => this.#deliver(events));
  }

  async #deliver(events: QueuedEvent[]): Promise<void> {
    const { outcomes, emitter, send, sendBatch, signal, journal } = this.#deps;
    const isBatch = this.#isBatching;
    const body = events.map(({ text }) => text).join('\n');
    const result = await (isBatch ? sendBatch : send)(body, signal, emitter.headersOf(events));
    this.#sending.delete(events);
    const status = isBatch && result.kind === 'rejected' ? result.status : undefined;
    if (status !== undefined && NO_SUCH_CALL.includes(status)) return this.#sendSingly(events);
    if (status === TOO_LARGE && events.length > 1) return this.#sendSmaller(events);
    const isKept = outcomes.isKeeping && !this.#isDiscarded;
    const isSettled =
      isBatch && result.kind === 'accepted'
        ? outcomes.settleBatch(rejectionsFrom(result), { events: events.length, isKept })
        : outcomes.settle(result, { events: events.length, isKept });
    if (isSettled) journal?.settle(events);
    else if (isKept) this.#holdUp(events);
  }

  #holdUp(events: readonly QueuedEvent[]): void {
    this.#sendAgain(events);
    this.#isHeldUp = true;
    this.#resending ??= this.#resend();
  }

  async #resend(): Promise<void> {
    const { sleep, closed } = this.#deps;
    for (let waitMs = RESEND_WAIT_MS; this.#isHeldUp; waitMs = Math.min(2 * waitMs, RESEND_WAIT_MS_MAX)) {
      await sleep(waitMs, closed);
      if (closed.aborted) return;
      await this.drain();
    }
    this.#resending = undefined;
  }

  /** From now on. */
  #sendSingly(events: readonly QueuedEvent[]): void {
    if (this.#isBatching)
      this.#deps.outcomes.warn('The service takes no batches; each event is sent by itself');
    this.#isBatching = false;
    this.#eventsMax = 1;
    this.#sendAgain(events);
  }

  /** From now on: a proxy that refuses this size now will refuse it later. */
  #sendSmaller(events: readonly QueuedEvent[]): void {
    this.#bytesMax = Math.min(this.#bytesMax, bytesOf(events) / 2);
    this.#sendAgain(events);
  }

  #sendAgain(events: readonly QueuedEvent[]): void {
    this.#waiting.putBack(events);
    this.#due += events.length;
  }
}
