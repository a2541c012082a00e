import { pass } from './virtual-time.ts';

/** A machine: work waits for the core that is free first. */
export class Node {
  readonly #freeAtMs: number[];

  constructor(cores: number) {
    this.#freeAtMs = Array.from({ length: cores }, () => 0);
  }

  /** Resolves when this many milliseconds of one core are used. */
  work(ms: number): Promise<void> {
    const nowMs = performance.now();
    const first = this.#freeAtMs.indexOf(Math.min(...this.#freeAtMs));
    const endMs = Math.max(nowMs, this.#freeAtMs[first] ?? 0) + ms;
    this.#freeAtMs[first] = endMs;
    return pass(endMs - nowMs);
  }
}
