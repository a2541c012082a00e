import { randomUUID } from 'node:crypto';

/** An event's position in the sequence of its emitter. Both numbers are final when the event is emitted, because events are only dropped then. */
export type EventNumber = {
  /** 1 for the first event. */
  readonly sequence: number;
  /** How many events with lower numbers were dropped. */
  readonly dropped: number;
};

/** Events that were dropped, and those that failed for good. */
export type Tally = { dropped: number; failed: number };

/** The number of a sender's events so far, with the outcomes that are known. */
export type Totals = { emitted: number } & Tally;

/**
 * Numbers the events of one sender on one event loop, dropped ones included, so that the service can detect what did not arrive. An
 * event that fails counts as emitted and not as dropped: the service may have stored it.
 */
export class Emitter {
  readonly id: string;
  readonly #tally: () => Tally;
  readonly #before: Tally;
  #emitted = 0;

  /** `tally` counts the outcomes of the sender's events. */
  constructor(tally: () => Tally, id: string = randomUUID()) {
    this.id = id;
    this.#tally = tally;
    this.#before = { ...tally() };
  }

  next(): EventNumber {
    this.#emitted += 1;
    return { sequence: this.#emitted, dropped: this.#tally().dropped - this.#before.dropped };
  }

  /** The totals that the close report sends to the service. */
  totals(): Totals {
    const { dropped, failed } = this.#tally();
    return {
      emitted: this.#emitted,
      dropped: dropped - this.#before.dropped,
      failed: failed - this.#before.failed,
    };
  }

  /** The headers of a POST with these events, in their order. */
  headersOf(events: readonly EventNumber[]): Record<string, string> {
    return {
      'Gate-Emitter': this.id,
      'Gate-Sequence': rangesOf(events),
      'Gate-Dropped': String(events.at(-1)?.dropped ?? 0),
    };
  }
}

/** The numbers as ranges: `5-60,63-70`. */
export function rangesOf(events: readonly Pick<EventNumber, 'sequence'>[]): string {
  const ranges: { from: number; to: number }[] = [];
  for (const { sequence } of events) {
    const last = ranges.at(-1);
    if (last !== undefined && sequence === last.to + 1) last.to = sequence;
    else ranges.push({ from: sequence, to: sequence });
  }
  return ranges.map(({ from, to }) => (from === to ? String(from) : `${from}-${to}`)).join(',');
}
