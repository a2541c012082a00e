import { IN_FLIGHT_MAX } from '../limits.ts';
import type { EventNumber } from './emitter.ts';
import { InFlight } from './in-flight.ts';
import type { Outbox, OutboxDeps } from './outbox.ts';

/** Posts each event separately, and accepts none while 32 are in flight. */
export class SinglePosts implements Outbox {
  readonly full = `${IN_FLIGHT_MAX} are in flight already. Set batch to record more`;
  readonly isHeldUp = false;
  readonly #inFlight = new InFlight(IN_FLIGHT_MAX);
  readonly #deps: OutboxDeps;

  constructor(deps: OutboxDeps) {
    this.#deps = deps;
  }

  get size(): number {
    return this.#inFlight.size;
  }

  /** Builds the body synchronously, so that it shows the current state, but only if there is a free slot. */
  tryAdd(bodyFrom: () => string, number: EventNumber): boolean {
    return this.#inFlight.tryStart(() => this.#deliver(bodyFrom, number));
  }

  drain(): Promise<void> {
    return this.#inFlight.drain();
  }

  discard(): void {}

  async #deliver(bodyFrom: () => string, number: EventNumber): Promise<void> {
    const { outcomes, emitter, send, signal } = this.#deps;
    const body = outcomes.built(bodyFrom);
    if (body === undefined) return;
    outcomes.settle(await send(body, signal, emitter.headersOf([number])), { events: 1 });
  }
}
