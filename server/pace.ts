import { setTimeout as sleep } from 'node:timers/promises';
import { RequestError } from './errors.ts';

type PaceOptions = { perSecond: number; burst: number; waitMsMax: number; waitingMax: number };

/**
 * Slows down requests that exceed `perSecond` for longer than a burst, each by at most waitMsMax. A caller that waits for each answer is
 * limited to its number of connections per waitMsMax. At most waitingMax wait at once.
 */
export class Pace {
  readonly #options: PaceOptions;
  #nextMs = Number.NEGATIVE_INFINITY;
  #waiting = 0;

  constructor(options: PaceOptions) {
    this.#options = options;
  }

  /** Throws overloaded when too many requests wait. */
  async turn(): Promise<void> {
    const { perSecond, burst, waitMsMax, waitingMax } = this.#options;
    if (this.#waiting >= waitingMax)
      throw new RequestError('overloaded', 'Too many of these calls are waiting. Try again.');
    const stepMs = 1000 / perSecond;
    const nowMs = performance.now();
    this.#nextMs = Math.max(this.#nextMs, nowMs - burst * stepMs) + stepMs;
    this.#nextMs = Math.min(this.#nextMs, nowMs + waitMsMax);
    if (this.#nextMs <= nowMs) return;
    this.#waiting += 1;
    await sleep(this.#nextMs - nowMs);
    this.#waiting -= 1;
  }
}
