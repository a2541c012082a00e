/** Runs work one at a time for each key, in the order it was asked for; other keys are not held up. */
export class KeyedMutex {
  readonly #tails = new Map<string, Promise<unknown>>();

  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#tails.get(key);
    const mine = (async () => {
      // What failed before was told to whoever asked for it.
      await before?.catch(() => undefined);
      return work();
    })();
    this.#tails.set(key, mine);
    try {
      return await mine;
    } finally {
      if (this.#tails.get(key) === mine) this.#tails.delete(key);
    }
  }
}
