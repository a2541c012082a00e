/** How one event fared; failure is a value here, because audit never throws. */
export type SendResult =
  | { kind: 'accepted' }
  | { kind: 'retryable'; status: number }
  | { kind: 'rejected'; status: number; problem: string }
  | { kind: 'unreachable'; problem: string };

/** Sends one body; never rejects, and ends early when the signal says so. */
export type Send = (body: string, signal: AbortSignal) => Promise<SendResult>;

/** Waits; ends early, without an error, when the signal says so. */
export type Sleep = (waitMs: number, signal: AbortSignal) => Promise<void>;
