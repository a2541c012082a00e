import type { PolicyRun, RunOptions } from '../govern/run.ts';

export type KnownRun = { run: Promise<PolicyRun>; caller: string };

type Begin = { caller: RunOptions; begun?: object | undefined };

/**
 * Finds the run that a model call or a tool call of LangChain belongs to. Middleware sees no object that represents a run, so a run is
 * identified by the messages that it made.
 */
export class MessageRuns {
  readonly #start: (caller: RunOptions) => Promise<PolicyRun>;
  /** By messages, and by the list of messages before the first answer. */
  readonly #known = new WeakMap<object, KnownRun>();

  constructor(start: (caller: RunOptions) => Promise<PolicyRun>) {
    this.#start = start;
  }

  /** The run of this caller that made these messages, or a new one, which `begun` then identifies. */
  of(messages: readonly object[], { caller: options, begun = messages }: Begin): KnownRun {
    const caller = JSON.stringify([options.role, options.userId, options.sessionId]);
    const key = [begun, ...messages].findLast((message) => this.#known.get(message)?.caller === caller);
    const known = key && this.#known.get(key);
    if (known) return known;
    const begins = { run: this.#start(options), caller };
    this.#known.set(begun, begins);
    begins.run.catch(() => this.#known.delete(begun));
    return begins;
  }

  /** This run's own copy of the message, because several runs may get the same message from a cache. */
  madeBy<T extends object>(run: KnownRun, made: T): T {
    if (!('type' in made) || (made.type !== 'ai' && made.type !== 'tool')) return made;
    const own = Object.assign(Object.create(Object.getPrototypeOf(made) as object) as T, made);
    this.#known.set(own, run);
    return own;
  }

  /** A run begins with these messages, so an earlier owner of them was another run. */
  forget(messages: readonly object[]): void {
    for (const message of messages) this.#known.delete(message);
  }
}
