import { messageOf } from '../errors.ts';
import { WARNING_EVERY, EVENT_CHARACTERS_MAX } from '../limits.ts';
import type { Logger } from '../logger.ts';
import type { Rejection } from './batch-answer.ts';
import type { Tally } from './emitter.ts';
import type { SendResult } from './post-event.ts';

/** Codes that one warning names. */
const CODES_MAX = 5;

/** The key is wrong or lacks the scope, so later events will fail, too. */
const KEY_REFUSED: readonly number[] = [401, 403];

/** The event is at fault, so it will fail again. */
const EVENT_REFUSED: readonly number[] = [400, 413, 422];

type OutcomesOptions = {
  path: string;
  logger: Logger;
  /** Whether a journal keeps the events that do not arrive for the next start. */
  isKeeping: () => boolean;
};

/** Counts the outcomes of one sender's events, and warns of those that were not stored. */
export class Outcomes {
  readonly #path: string;
  readonly #logger: Logger;
  readonly #isKeeping: () => boolean;
  readonly #counts = { sent: 0, failed: 0, dropped: 0 };
  #undelivered = 0;
  #keyRefusals = 0;

  constructor({ path, logger, isKeeping }: OutcomesOptions) {
    this.#path = path;
    this.#logger = logger;
    this.#isKeeping = isKeeping;
  }

  counts(): Readonly<{ sent: number; failed: number; dropped: number }> {
    return this.#counts;
  }

  /** How many of the failed events are kept for the next start. */
  get kept(): number {
    return this.#undelivered > 0 && this.#isKeeping() ? this.#undelivered : 0;
  }

  /** Of the events that are sent no more. */
  tally(): Tally {
    const { dropped, failed } = this.#counts;
    return { dropped, failed: failed - this.kept };
  }

  /** The text of an event; undefined if it cannot be built, which counts as failed. */
  built(bodyFrom: () => string): string | undefined {
    try {
      const body = bodyFrom();
      if (body.length > EVENT_CHARACTERS_MAX) throw new Error('the event is too large');
      return body;
    } catch (error) {
      this.#fail(1, 'Audit event could not be built; event dropped', { problem: messageOf(error) });
      return undefined;
    }
  }

  drop(reason: string): void {
    this.#counts.dropped += 1;
    const { dropped } = this.#counts;
    if (isTold(dropped)) this.warn(`Audit event dropped: ${reason}`, { dropped });
  }

  /** `events` went in one POST. Returns true if they are stored, or would be refused again. */
  settle(result: SendResult, events: number): boolean {
    switch (result.kind) {
      case 'accepted':
        this.#counts.sent += events;
        return true;
      case 'rejected':
        return this.#reject(result, events);
      case 'retryable':
        this.lose(events, `Audit ingest still unavailable (${result.status}) after one retry`);
        break;
      case 'unreachable':
        this.lose(events, 'Audit endpoint unreachable', { problem: result.problem });
        break;
    }
    return false;
  }

  #reject({ status, problem }: { status: number; problem: string }, events: number): boolean {
    const refusals = KEY_REFUSED.includes(status) ? (this.#keyRefusals += 1) : 1;
    const isFinal = EVENT_REFUSED.includes(status);
    this.#counts.failed += events;
    if (!isFinal) this.#undelivered += events;
    const level = isTold(refusals) ? 'warn' : 'debug';
    this.#tell(level, `Audit ingest error ${status}`, {
      problem,
      ...(events > 1 && { events }),
      ...(refusals > 1 && { refusals }),
    });
    return isFinal;
  }

  /** As `settle`. The service took a batch, except the rejected events; undefined if it does not say which. */
  settleBatch(rejections: readonly Rejection[] | undefined, events: number): boolean {
    if (rejections === undefined)
      return this.settle({ kind: 'unreachable', problem: 'the answer is unreadable' }, events);
    const failed = Math.min(rejections.length, events);
    this.#counts.sent += events - failed;
    const [first] = rejections;
    if (first === undefined) return true;
    const codes = [...new Set(rejections.map(({ code }) => code))].slice(0, CODES_MAX).join(', ');
    const context = { problem: first.problem, rejected: failed, events };
    this.#fail(failed, `Audit ingest rejected events: ${codes}`, context);
    return true;
  }

  /** These events did not arrive. */
  lose(events: number, message: string, context: Record<string, unknown> = {}): void {
    this.#undelivered += events;
    const what = events === 1 ? 'event' : 'events';
    const fate = this.#isKeeping() ? 'kept for the next start' : 'dropped';
    this.#fail(events, `${message}; ${what} ${fate}`, { ...context, ...(events > 1 && { events }) });
  }

  #fail(events: number, message: string, context: Record<string, unknown>): void {
    this.#counts.failed += events;
    this.warn(message, context);
  }

  warn(message: string, context: Record<string, unknown> = {}): void {
    this.#tell('warn', message, context);
  }

  #tell(level: 'warn' | 'debug', message: string, context: Record<string, unknown>): void {
    this.#logger[level](message, { path: this.#path, ...context });
  }
}

/** The first of many alike is worth a warning, and then every hundredth. */
function isTold(count: number): boolean {
  return count === 1 || count % WARNING_EVERY === 0;
}
