import type { Emitter, EventNumber } from './emitter.ts';
import type { Journal } from './journal.ts';
import type { Outcomes } from './outcomes.ts';
import type { Send } from './post-event.ts';

/** Takes the events of one sender on one event loop, and settles each in its outcomes. No method throws or waits. */
export type Outbox = {
  /** Events that are not settled. */
  readonly size: number;
  /** Why `tryAdd` returns false. */
  readonly full: string;
  tryAdd(bodyFrom: () => string, number: EventNumber): boolean;
  /** Whether the service did not accept events that a journal keeps. They wait and are sent again. */
  readonly isHeldUp: boolean;
  /** Sends the waiting events at once. Resolves when every event so far is settled, or when they are held up. */
  drain(): Promise<void>;
  /** Fails the waiting events. */
  discard(): void;
};

export type OutboxDeps = {
  outcomes: Outcomes;
  emitter: Emitter;
  /** Posts one event. */
  send: Send;
  signal: AbortSignal;
  /** Keeps the events until they are settled. */
  journal?: Journal | undefined;
};
