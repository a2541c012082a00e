/** An event as it is sent, with its place in the order of arrival. */
export type QueuedEvent = { text: string; bytes: number; order: number };

/** Events that wait to be sent, in the order of their arrival, within a number and a size. */
export class EventQueue {
  #events: QueuedEvent[] = [];
  #bytes = 0;
  #arrived = 0;
  readonly #eventsMax: number;
  readonly #bytesMax: number;

  constructor({ eventsMax, bytesMax }: { eventsMax: number; bytesMax: number }) {
    this.#eventsMax = eventsMax;
    this.#bytesMax = bytesMax;
  }

  get length(): number {
    return this.#events.length;
  }

  /** With the newlines between the events. */
  get bytes(): number {
    return this.#bytes;
  }

  get isFull(): boolean {
    return this.#events.length >= this.#eventsMax || this.#bytes >= this.#bytesMax;
  }

  /** For a queue that is not full. Returns false, and takes nothing, when the event is too large for the room that is left. */
  tryPush(text: string): boolean {
    const bytes = Buffer.byteLength(text) + 1;
    if (this.#bytes + bytes > this.#bytesMax) return false;
    this.#events.push({ text, bytes, order: (this.#arrived += 1) });
    this.#bytes += bytes;
    return true;
  }

  /** Removes and returns the first events: at least one if there is any, and no more than the limits allow. */
  take({ eventsMax, bytesMax }: { eventsMax: number; bytesMax: number }): QueuedEvent[] {
    let count = 0;
    let bytes = 0;
    for (const event of this.#events) {
      if (count > 0 && (count >= eventsMax || bytes + event.bytes > bytesMax)) break;
      count += 1;
      bytes += event.bytes;
    }
    this.#bytes -= bytes;
    return this.#events.splice(0, count);
  }

  /** Puts events that were taken back in their places, whatever the limits. */
  putBack(events: readonly QueuedEvent[]): void {
    this.#events = [...events, ...this.#events].sort((a, b) => a.order - b.order);
    this.#bytes += bytesOf(events);
  }
}

export function bytesOf(events: readonly QueuedEvent[]): number {
  return events.reduce((sum, { bytes }) => sum + bytes, 0);
}
