const FIRST_MS = 2_000;

/** Reports the progress of long work on standard error: nothing in the first two seconds, then every two seconds. */
export class Progress {
  readonly #what: string;
  readonly #startMs = performance.now();
  #nextMs = FIRST_MS;

  constructor(what: string) {
    this.#what = what;
  }

  report(done: number, of?: number): void {
    const elapsedMs = performance.now() - this.#startMs;
    if (elapsedMs < this.#nextMs) return;
    this.#nextMs = elapsedMs + FIRST_MS;
    const all = of === undefined ? '' : ` of ${of.toLocaleString('en')}`;
    process.stderr.write(
      `${this.#what}: ${done.toLocaleString('en')}${all} (${Math.round(elapsedMs / 1000)} s)\n`,
    );
  }
}
