/** A bounded set of running tasks; one that rejects is over like any other. */
export class InFlight {
  readonly #running = new Set<Promise<void>>();
  readonly #tasksMax: number;

  constructor(tasksMax: number) {
    this.#tasksMax = tasksMax;
  }

  get size(): number {
    return this.#running.size;
  }

  /** Starts the task, or says no without looking at it. */
  tryStart(task: () => Promise<void>): boolean {
    if (this.#running.size >= this.#tasksMax) return false;
    const end = (): void => void this.#running.delete(running);
    const running: Promise<void> = task().then(end, end);
    this.#running.add(running);
    return true;
  }

  /** Resolves when nothing runs, those that start meanwhile included. */
  async drain(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }
}
