import type { EventNumber } from './emitter.ts';

/** An event as it is sent. */
export type QueuedEvent = EventNumber & { text: string; bytes: number };

type QueueLimits = { eventsMax: number; bytesMax: number };
/** `rangesMax`: the maximum number of contiguous ranges of numbers. */
type TakeLimits = QueueLimits & { rangesMax?: number };

/** Events waiting to be sent, in the order of their numbers, bounded in count and in bytes. */
export class EventQueue {
  #events: QueuedEvent[] = [];
  #bytes = 0;
  readonly #limits: QueueLimits;

  constructor(limits: QueueLimits) {
    this.#limits = limits;
  }

  get events(): readonly QueuedEvent[] {
    return this.#events;
  }

  get length(): number {
    return this.#events.length;
  }

  /** With the newlines between the events. */
  get bytes(): number {
    return this.#bytes;
  }

  get isFull(): boolean {
    return this.#events.length >= this.#limits.eventsMax || this.#bytes >= this.#limits.bytesMax;
  }

  /** For a queue that is not full. Returns false and takes nothing when the event is too large for the remaining room. */
  tryPush(text: string, { sequence, dropped }: EventNumber): boolean {
    const bytes = Buffer.byteLength(text) + 1;
    if (this.#bytes + bytes > this.#limits.bytesMax) return false;
    this.#events.push({ text, bytes, sequence, dropped });
    this.#bytes += bytes;
    return true;
  }

  /** Removes and returns the first events: at least one if there is any, and no more than the limits allow. */
  take({ eventsMax, bytesMax, rangesMax = Infinity }: TakeLimits): QueuedEvent[] {
    let [count, bytes, ranges, last] = [0, 0, 0, -1];
    for (const event of this.#events) {
      if (event.sequence !== last + 1) ranges += 1;
      const isOver = count >= eventsMax || bytes + event.bytes > bytesMax || ranges > rangesMax;
      if (count > 0 && isOver) break;
      count += 1;
      bytes += event.bytes;
      last = event.sequence;
    }
    this.#bytes -= bytes;
    return this.#events.splice(0, count);
  }

  /** Puts events back in their places, regardless of the limits. */
  putBack(events: readonly QueuedEvent[]): void {
    this.#events = [...events, ...this.#events].sort((a, b) => a.sequence - b.sequence);
    this.#bytes += bytesOf(events);
  }
}

export function bytesOf(events: readonly QueuedEvent[]): number {
  return events.reduce((sum, { bytes }) => sum + bytes, 0);
}
