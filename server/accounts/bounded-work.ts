import { RequestError } from '../errors.ts';

type Limits = { runningMax: number; waitingMax: number; waitMsMax: number };

/** Runs at most so many at once; the rest wait in a line that is bounded in length and time. Rejects with `overloaded`. */
export class BoundedWork {
  readonly #limits: Limits;
  readonly #waiting = new Set<() => void>();
  #running = 0;

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running < this.#limits.runningMax) this.#running += 1;
    else await this.#wait();
    try {
      return await work();
    } finally {
      this.#next();
    }
  }

  /** Resolves when a place was handed over by one that is done. */
  #wait(): Promise<void> {
    if (this.#waiting.size >= this.#limits.waitingMax) return Promise.reject(overloaded());
    return new Promise((resolve, reject) => {
      const take = () => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(() => {
        this.#waiting.delete(take);
        reject(overloaded());
      }, this.#limits.waitMsMax);
      this.#waiting.add(take);
    });
  }

  #next(): void {
    for (const take of this.#waiting) {
      this.#waiting.delete(take);
      take();
      return;
    }
    this.#running -= 1;
  }
}

function overloaded(): RequestError {
  return new RequestError('overloaded', 'Too much of this work is running already. Try again.');
}
