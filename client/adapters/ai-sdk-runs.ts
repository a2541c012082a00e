import type { ModelMessage } from 'ai';
import type { PolicyRun } from '../govern/run.ts';

/** A step of `generateText`, `streamText` or an agent, as the SDK describes it to `prepareStep`. */
export type Step = {
  stepNumber: number;
  messages: ModelMessage[];
  /** The steps so far: one list for the whole run. */
  steps?: readonly unknown[];
};

type Seen = { run: PolicyRun | Promise<PolicyRun>; messages: readonly ModelMessage[]; length: number };

type RunsOptions = {
  /** Refreshes the policy and pins it. */
  start: () => Promise<PolicyRun>;
  /** Called for a run that was first noticed at a tool call. */
  onUnseen: () => void;
};

/** Finds the run that a tool call belongs to, and starts runs. One `generateText` or `streamText` is one run. */
export class SdkRuns {
  readonly #options: RunsOptions;
  /** Copies of messages that were made for one run. The SDK passes them only to the tools of that run. */
  readonly #marked = new WeakMap<object, PolicyRun>();
  /** By the messages of a step, which ai 5 and 6 pass to its tools instead of the copies. */
  readonly #steps = new WeakMap<object, PolicyRun>();
  /** By the list of steps, and by the last message of the user: the run that began with it most recently. */
  readonly #latest = new WeakMap<object, PolicyRun>();
  /** By the last message of the user; the caller may send the same object again. */
  readonly #seen = new WeakMap<object, Seen>();
  /** A run that was started before its first step. */
  #started: PolicyRun | undefined;

  constructor(options: RunsOptions) {
    this.#options = options;
  }

  async startNext(): Promise<void> {
    this.#started = await this.#options.start();
  }

  /** Starts a run at step 0, before the model is asked. */
  async prepareStep({ stepNumber, messages, steps = [] }: Step): Promise<{ messages?: ModelMessage[] }> {
    const key = lastOfUser(messages) ?? this;
    // `streamText` of ai 5 creates a new message from the prompt for each step.
    const begun = stepNumber > 0 ? (this.#latest.get(steps) ?? this.#latest.get(key)) : undefined;
    if (begun) this.#steps.set(messages, begun);
    if (stepNumber > 0) return {};
    const run = (await this.#takeResumed(messages)) ?? this.#takeStarted() ?? (await this.#options.start());
    this.#latest.set(steps, run).set(key, run);
    this.#steps.set(messages, run);
    const copies = messages.map((message) => ({ ...message }));
    for (const copy of copies) this.#marked.set(copy, run);
    return { messages: copies };
  }

  /** The run of a tool call with these messages. If its beginning was not seen, the run starts here. */
  of(messages: readonly ModelMessage[] = []): PolicyRun | Promise<PolicyRun> {
    const marked = messages.find((message) => this.#marked.has(message));
    const known = marked ? this.#marked.get(marked) : this.#steps.get(messages);
    if (known) return known;
    const key = lastOfUser(messages) ?? this;
    const seen = this.#seen.get(key);
    const { length } = messages;
    // Within a run, messages are added with every step.
    if (seen && (seen.messages === messages || (length > seen.length && !isResumption(messages)))) {
      Object.assign(seen, { messages, length });
      return seen.run;
    }
    const run = this.#takeStarted() ?? this.#startAtCall(key, messages);
    this.#seen.set(key, { run, messages, length });
    return run;
  }

  /** The run that began with the execution of approved calls, which the SDK does before its first step. */
  #takeResumed(messages: readonly ModelMessage[]): PolicyRun | Promise<PolicyRun> | undefined {
    const key = lastOfUser(messages) ?? this;
    const seen = this.#seen.get(key);
    const isSame =
      seen && isResumption(seen.messages) && seen.messages.every((one, index) => one === messages[index]);
    if (!isSame) return undefined;
    this.#seen.delete(key);
    return seen.run;
  }

  #takeStarted(): PolicyRun | undefined {
    const run = this.#started;
    this.#started = undefined;
    return run;
  }

  async #startAtCall(key: object, messages: readonly ModelMessage[]): Promise<PolicyRun> {
    if (!isResumption(messages)) this.#options.onUnseen();
    try {
      const run = await this.#options.start();
      const seen = this.#seen.get(key);
      // From here on, allowed calls are synchronous.
      if (seen) seen.run = run;
      return run;
    } catch (error) {
      this.#seen.delete(key);
      throw error;
    }
  }
}

function lastOfUser(messages: readonly ModelMessage[]): ModelMessage | undefined {
  return messages.findLast(({ role }) => role === 'user') ?? messages[0];
}

/** Whether they end with answers to the SDK's own approval requests. If so, a new run executes those calls first. */
export function isResumption(messages: readonly ModelMessage[]): boolean {
  const last = messages.at(-1);
  return last?.role === 'tool' && last.content.some(({ type }) => type === 'tool-approval-response');
}
