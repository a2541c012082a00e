import { decisionEventFrom, type DecisionInput } from './decision-event.ts';
import { jsonText, plainCopy } from './plain-copy.ts';
import type { Counts, Sender } from './sender.ts';
import { usageEventFrom, type UsageInput } from './usage-event.ts';

/** The audit of one key. Nothing on it throws, waits, or changes a decision. */
export type Gate = {
  /** False without a key, in local mode and after shutdown: then every call does nothing. */
  readonly enabled: boolean;
  emit(decision: DecisionInput): void;
  emitLlm(usage: UsageInput): void;
  stats(): Counts;
};

/** What a gate is to the rest of the client. */
export type OpenGate = Gate & { warnOfLoop(): void };

type Senders = { decisions: Sender; usage: Sender };

const NOTHING: Counts = { sent: 0, failed: 0, dropped: 0, in_flight: 0 };

/** A gate that does nothing, for ever. */
export const INERT_GATE: OpenGate = Object.freeze({
  enabled: false,
  emit: () => undefined,
  emitLlm: () => undefined,
  warnOfLoop: () => undefined,
  stats: () => ({ ...NOTHING }),
});

/** A gate over two senders, open until they are closed. */
export function createGate({ decisions, usage }: Senders, now: () => number): OpenGate {
  return Object.freeze({
    get enabled() {
      return !decisions.isClosed;
    },
    emit: (decision: DecisionInput) => decisions.emit(() => jsonText(decisionEventFrom(decision, now()))),
    emitLlm: (used: UsageInput) => usage.emit(() => jsonText(plainCopy(usageEventFrom(used, now())))),
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
