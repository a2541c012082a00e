/** A bounded set of running tasks. A task that rejects counts as ended. */
export class InFlight {
  readonly #running = new Set<Promise<void>>();
  readonly #tasksMax: number;
  readonly #onEnd: () => void;

  /** Calls `onEnd` whenever a task has ended and freed its place. */
  constructor(tasksMax: number, onEnd: () => void = () => undefined) {
    this.#tasksMax = tasksMax;
    this.#onEnd = onEnd;
  }

  get size(): number {
    return this.#running.size;
  }

  /** Starts the task, or returns false when the set is full. */
  tryStart(task: () => Promise<void>): boolean {
    if (this.#running.size >= this.#tasksMax) return false;
    const end = (): void => {
      this.#running.delete(running);
      this.#onEnd();
    };
    const running: Promise<void> = task().then(end, end);
    this.#running.add(running);
    return true;
  }

  /** Resolves when the currently running tasks have ended. */
  async drain(): Promise<void> {
    await Promise.all(this.#running);
  }
}
