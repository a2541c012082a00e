import { decisionEventFrom, type DecisionInput } from './decision-event.ts';
import { jsonText } from './plain-copy.ts';
import type { Counts, Sender } from './sender.ts';
import { usageEventFrom, type UsageInput } from './usage-event.ts';

/** Records what an agent does, for one API key. No method throws or waits. */
export type Gate = {
  /** False without a key, in local mode and after shutdown: every method then does nothing. */
  readonly enabled: boolean;
  /** Records one decision, with the arguments as they are now. */
  emit(decision: DecisionInput): void;
  /** Records the token usage of one model call. */
  emitLlm(usage: UsageInput): void;
  /** Events so far, of both kinds together. */
  stats(): Counts;
};

/** A gate as the rest of the client sees it. */
export type InnerGate = Gate & { warnOfLoop(): void };

type Senders = { decisions: Sender; usage: Sender };

const NOTHING: Counts = { sent: 0, failed: 0, dropped: 0, in_flight: 0 };

export const INERT_GATE: InnerGate = Object.freeze({
  enabled: false,
  emit: () => undefined,
  emitLlm: () => undefined,
  warnOfLoop: () => undefined,
  stats: () => ({ ...NOTHING }),
});

/** Makes a gate over two senders; it is enabled until they are closed. */
export function createGate({ decisions, usage }: Senders, now: () => number): InnerGate {
  return Object.freeze({
    get enabled() {
      return !decisions.isClosed;
    },
    emit: (decision: DecisionInput) => decisions.emit(() => jsonText(decisionEventFrom(decision, now()))),
    emitLlm: (used: UsageInput) => usage.emit(() => jsonText(usageEventFrom(used, now()))),
    warnOfLoop: () => decisions.warnOfLoop(),
    stats: () => sum(decisions.counts(), usage.counts()),
  });
}

function sum(a: Counts, b: Counts): Counts {
  return {
    sent: a.sent + b.sent,
    failed: a.failed + b.failed,
    dropped: a.dropped + b.dropped,
    in_flight: a.in_flight + b.in_flight,
  };
}
