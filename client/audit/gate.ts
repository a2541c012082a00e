import { isLocalMode } from '../config.ts';
import { ValueError } from '../errors.ts';
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
export type InnerGate = Gate & {
  warnOfLoop(): void;
  /** For a bound agent, which continues to call: warns once after shutdown. */
  warnOfShutdown(): void;
};

type Senders = { decisions: Sender; usage: Sender };

/** The key and the base URL of a gate. Kept apart from it, so that the key is never printed with it. */
type GateAddress = { apiKey: string | undefined; baseUrl: string | undefined };

const addresses = new WeakMap<Gate, GateAddress>();

type GateOptions = GateAddress & { now: () => number };

const NOTHING: Counts = { sent: 0, failed: 0, dropped: 0, in_flight: 0 };

export function createInertGate(address: GateAddress): InnerGate {
  const gate = Object.freeze({
    enabled: false,
    emit: () => undefined,
    emitLlm: () => undefined,
    warnOfLoop: () => undefined,
    warnOfShutdown: () => undefined,
    stats: () => ({ ...NOTHING }),
  });
  addresses.set(gate, address);
  return gate;
}

/** Makes a gate over two senders; it is enabled until they are closed, except in local mode. */
export function createGate({ decisions, usage }: Senders, options: GateOptions): InnerGate {
  const { now } = options;
  const emit = (sender: Sender, bodyFrom: () => unknown): void => {
    if (!isLocalMode()) sender.emit(() => jsonText(bodyFrom()));
  };
  const gate = Object.freeze({
    get enabled() {
      return !decisions.isClosed && !isLocalMode();
    },
    emit: (decision: DecisionInput) => emit(decisions, () => decisionEventFrom(decision, now())),
    emitLlm: (used: UsageInput) => emit(usage, () => usageEventFrom(used, now())),
    warnOfLoop: () => decisions.warnOfLoop(),
    warnOfShutdown: () => {
      if (!isLocalMode()) decisions.warnOfShutdown();
    },
    stats: () => sum(decisions.counts(), usage.counts()),
  });
  addresses.set(gate, options);
  return gate;
}

/** Throws a ValueError for anything that `configure` of this copy of the package did not return. */
export function addressOf(gate: Gate): GateAddress {
  const address = addresses.get(gate);
  if (address !== undefined) return address;
  throw new ValueError('client must be a gate that configure() returned; is the package installed twice?');
}

function sum(a: Counts, b: Counts): Counts {
  return {
    sent: a.sent + b.sent,
    failed: a.failed + b.failed,
    dropped: a.dropped + b.dropped,
    in_flight: a.in_flight + b.in_flight,
  };
}
