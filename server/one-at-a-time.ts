/** Runs work of the same key one after the other, in the order it came; different keys do not wait for each other. */
export class OneAtATime {
  readonly #last = new Map<string, Promise<void>>();

  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(key);
    const { promise: mine, resolve: finish } = Promise.withResolvers<void>();
    this.#last.set(key, mine);
    try {
      await before;
      return await work();
    } finally {
      finish();
      if (this.#last.get(key) === mine) this.#last.delete(key);
    }
  }
}
