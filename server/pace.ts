import { setTimeout as sleep } from 'node:timers/promises';

type PaceOptions = { perSecond: number; burst: number; waitMsMax: number };

/**
 * Slows down requests that exceed `perSecond` for longer than a burst, each by at most waitMsMax. Nothing is refused: a caller that
 * waits for each answer is limited to its number of connections per waitMsMax.
 */
export class Pace {
  readonly #options: PaceOptions;
  #nextMs = 0;

  constructor(options: PaceOptions) {
    this.#options = options;
  }

  async turn(): Promise<void> {
    const { perSecond, burst, waitMsMax } = this.#options;
    const stepMs = 1000 / perSecond;
    const nowMs = performance.now();
    this.#nextMs = Math.max(this.#nextMs, nowMs - burst * stepMs) + stepMs;
    this.#nextMs = Math.min(this.#nextMs, nowMs + waitMsMax);
    if (this.#nextMs > nowMs) await sleep(this.#nextMs - nowMs);
  }
}
