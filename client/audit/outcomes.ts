import { messageOf } from '../errors.ts';
import { WARNING_EVERY, EVENT_CHARACTERS_MAX } from '../limits.ts';
import type { Logger } from '../logger.ts';
import type { Rejection } from './batch-answer.ts';
import type { Tally } from './emitter.ts';
import type { SendResult } from './post-event.ts';

/** How many codes one warning names. */
const CODES_MAX = 5;

/** The key is wrong or lacks the scope, so later events will fail, too. */
const KEY_REFUSED: readonly number[] = [401, 403];

/** The event is at fault, so it will fail again. */
const EVENT_REFUSED: readonly number[] = [400, 413, 422];

type Failure = Exclude<SendResult, { kind: 'accepted' }>;

type OutcomesOptions = {
  path: string;
  logger: Logger;
  /** Whether a journal keeps the events that do not arrive. */
  isKeeping: () => boolean;
};

/** Events that were sent in one POST. Those in a journal are sent again if they do not arrive, and have no outcome until then. */
type Sent = { events: number; isKept?: boolean };

/** Counts the outcomes of one sender's events, and warns of those that were not stored. */
export class Outcomes {
  readonly #options: OutcomesOptions;
  readonly #counts = { sent: 0, failed: 0, dropped: 0 };
  #keyRefusals = 0;
  #holdUps = 0;

  constructor(options: OutcomesOptions) {
    this.#options = options;
  }

  counts(): Readonly<Tally & { sent: number }> {
    return this.#counts;
  }

  get isKeeping(): boolean {
    return this.#options.isKeeping();
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
    if (causesWarning(dropped)) this.warn(`Audit event dropped: ${reason}`, { dropped });
  }

  /** Returns true if the events are stored, or would be refused again. */
  settle(result: Failure | { kind: 'accepted' }, { events, isKept = false }: Sent): boolean {
    if (result.kind === 'accepted') {
      this.#counts.sent += events;
      this.#holdUps = 0;
      return true;
    }
    const isFinal = result.kind === 'rejected' && EVENT_REFUSED.includes(result.status);
    if (isKept && !isFinal) this.#holdUp(result);
    else if (result.kind === 'rejected') this.#reject(result, events);
    else this.lose(events, ...problemOf(result));
    return isFinal;
  }

  /** The first of many in a row causes a warning. */
  #holdUp(result: Failure): void {
    this.#holdUps += 1;
    const [message, context] = problemOf(result);
    const level = causesWarning(this.#holdUps) ? 'warn' : 'debug';
    this.#log(level, `${message}; events are kept and sent again`, context);
  }

  #reject(result: Failure & { kind: 'rejected' }, events: number): void {
    const refusals = KEY_REFUSED.includes(result.status) ? (this.#keyRefusals += 1) : 1;
    const [message, context] = problemOf(result);
    this.#counts.failed += events;
    this.#log(causesWarning(refusals) ? 'warn' : 'debug', message, {
      ...context,
      ...(events > 1 && { events }),
      ...(refusals > 1 && { refusals }),
    });
  }

  /** Like `settle`. The service accepted a batch, except for the rejected events; undefined if it does not say which. */
  settleBatch(rejections: readonly Rejection[] | undefined, sent: Sent): boolean {
    if (rejections === undefined)
      return this.settle({ kind: 'unreachable', problem: 'the answer is unreadable' }, sent);
    const { events } = sent;
    const failed = Math.min(rejections.length, events);
    this.settle({ kind: 'accepted' }, { events: events - failed });
    const [first] = rejections;
    if (first === undefined) return true;
    const codes = [...new Set(rejections.map(({ code }) => code))].slice(0, CODES_MAX).join(', ');
    const context = { problem: first.problem, rejected: failed, events };
    this.#fail(failed, `Audit ingest rejected events: ${codes}`, context);
    return true;
  }

  /** These events did not arrive. */
  lose(events: number, message: string, context: Record<string, unknown> = {}): void {
    const what = events === 1 ? 'event' : 'events';
    const fate = this.isKeeping ? 'kept for the next start' : 'dropped';
    this.#fail(events, `${message}; ${what} ${fate}`, { ...context, ...(events > 1 && { events }) });
  }

  #fail(events: number, message: string, context: Record<string, unknown>): void {
    this.#counts.failed += events;
    this.warn(message, context);
  }

  warn(message: string, context: Record<string, unknown> = {}): void {
    this.#log('warn', message, context);
  }

  #log(level: 'warn' | 'debug', message: string, context: Record<string, unknown>): void {
    const { logger, path } = this.#options;
    logger[level](message, { path, ...context });
  }
}

function problemOf(result: Failure): [message: string, context: Record<string, unknown>] {
  if (result.kind === 'rejected') return [`Audit ingest error ${result.status}`, { problem: result.problem }];
  if (result.kind === 'retryable')
    return [`Audit ingest still unavailable (${result.status}) after one retry`, {}];
  return ['Audit endpoint unreachable', { problem: result.problem }];
}

/** The first of many similar events causes a warning, and then every hundredth. */
function causesWarning(count: number): boolean {
  return count === 1 || count % WARNING_EVERY === 0;
}
