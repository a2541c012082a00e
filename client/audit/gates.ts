import {
  BASE_URL_DEFAULT,
  isLocalMode,
  readEnvironment,
  timerMs,
  urlOf,
  warnOfBoth,
  warnOfPlaintext,
} from '../config.ts';
import { DESTROY_TIMEOUT_MS, HTTP_TIMEOUT_MS, SHUTDOWN_TIMEOUT_MS } from '../limits.ts';
import { safeLogger, type Logger } from '../logger.ts';
import { checkType } from '../options.ts';
import { batchLimitsFrom, type BatchLimits, type BatchOptions } from './batch-options.ts';
import { addressOf, createGate, createInertGate, type Gate, type InnerGate } from './gate.ts';
import type { Journals } from './journal.ts';
import { holdOpen, within, type Loop, type Sleep } from './loop.ts';
import { type EventStream, Sender } from './sender.ts';

export type ConfigureOptions = {
  /** The bearer key for audit; default GATE_API_KEY. Without it the gate is inert. */
  apiKey?: string | undefined;
  /** The same as `apiKey`. */
  auditKey?: string | undefined;
  /** Default GATE_BASE_URL, else http://localhost:8000. */
  baseUrl?: string | undefined;
  /** For one request, in milliseconds; default 5,000. */
  timeoutMs?: number | undefined;
  /** Sends events in batches; default false, one POST per event. */
  batch?: boolean | BatchOptions | undefined;
  /** Default console. */
  logger?: Logger | undefined;
};

export type GatesDeps = {
  now: () => number;
  sleep: Sleep;
  createLoop: (beforeEnd: () => void, atExit: () => void) => Loop;
};

type OpenOptions = Omit<ConfigureOptions, 'batch'> & {
  apiKey: string;
  logger: Logger;
  batch: BatchLimits | undefined;
  journals: Journals | undefined;
};

type OpenGate = { gate: InnerGate; senders: readonly Sender[]; baseUrl: string; logger: Logger };

const INERT_GATE = createInertGate({ apiKey: undefined, baseUrl: undefined });

const STREAMS = [
  { path: '/v1/audit/decisions', stream: 'decisions' },
  { path: '/v1/audit/llm-invocations', stream: 'llm_invocations' },
] as const satisfies EventStream[];

/** All gates of one copy of the package: one per API key, until shutdown. */
export class Gates {
  readonly #deps: GatesDeps;
  readonly #open = new Map<string, OpenGate>();
  readonly #closing = new Set<OpenGate>();
  #hasAnnouncedLocalMode = false;
  #loop: Loop | undefined;
  #isEndOverdue = false;

  constructor(deps: GatesDeps) {
    this.#deps = deps;
  }

  /** With journals, batches outlive a kill of the process. Throws a ValueError for batch options out of range. */
  configure(options: ConfigureOptions = {}, journals?: Journals): InnerGate {
    const batch = batchLimitsFrom(options.batch);
    const environment = readEnvironment();
    const apiKey = options.apiKey ?? environment.apiKey;
    const logger = safeLogger(options.logger);
    warnOfBoth({ apiKey, localPolicy: environment.localPolicy }, logger);
    const baseUrl = options.baseUrl ?? environment.baseUrl;
    if (!apiKey) return INERT_GATE;
    if (isLocalMode()) {
      this.#announceLocalMode(logger);
      return createInertGate({ apiKey, baseUrl });
    }
    const { gate, baseUrl: baseUrlInUse } =
      this.#open.get(apiKey) ?? this.#openGate({ ...options, apiKey, baseUrl, logger, batch, journals });
    if (baseUrl !== undefined && urlOf(baseUrl, '') !== urlOf(baseUrlInUse, '')) {
      logger.warn('This API key is configured already; its first base URL stays in use', {
        baseUrl: baseUrlInUse,
      });
    }
    return gate;
  }

  /** The open gate for the key of this one. After `shutdown`, it is another gate once `configure` has been called again. */
  current(gate: Gate): InnerGate {
    const { apiKey = '' } = addressOf(gate);
    return this.#open.get(apiKey)?.gate ?? (gate as InnerGate);
  }

  async flush(): Promise<void> {
    await holdOpen(drainAll([...this.#open.values(), ...this.#closing]));
  }

  async shutdown({ timeoutMs }: { timeoutMs?: number | undefined } = {}): Promise<void> {
    if (timeoutMs !== undefined) checkType('shutdown: timeoutMs', 'number', timeoutMs);
    for (const open of this.#open.values()) {
      for (const sender of open.senders) sender.close();
      this.#closing.add(open);
    }
    this.#open.clear();
    this.#hasAnnouncedLocalMode = false;
    const closing = [...this.#closing];
    const senders = closing.flatMap((open) => open.senders);
    await within(
      Promise.all(senders.map((sender) => sender.finish())),
      timerMs(timeoutMs ?? SHUTDOWN_TIMEOUT_MS),
    );
    for (const sender of senders) sender.destroy();
    await within(drainAll(closing), DESTROY_TIMEOUT_MS);
    for (const closed of closing) this.#closing.delete(closed);
  }

  #openGate({
    apiKey,
    logger,
    baseUrl = BASE_URL_DEFAULT,
    timeoutMs = HTTP_TIMEOUT_MS,
    batch,
    journals,
  }: OpenOptions): OpenGate {
    warnOfPlaintext(baseUrl, logger);
    // Not earlier, because an import must not add a listener to the application's process.
    const loop = (this.#loop ??= this.#deps.createLoop(
      () => this.#sendBeforeEnd(),
      () => this.#warnOfLost(),
    ));
    const { now, sleep } = this.#deps;
    const shared = { baseUrl, apiKey, timeoutMs: timerMs(timeoutMs), batch, journals, logger, loop, sleep };
    const decisions = new Sender({ ...shared, ...STREAMS[0] });
    const usage = new Sender({ ...shared, ...STREAMS[1] });
    const open = {
      gate: createGate({ decisions, usage }, { now, apiKey, baseUrl }),
      senders: [decisions, usage],
      baseUrl,
      logger,
    };
    this.#open.set(apiKey, open);
    return open;
  }

  /** Keeps the process alive until the batches are settled, for as long as shutdown would. */
  #sendBeforeEnd(): void {
    const batched = [...this.#open.values()].filter(({ senders }) =>
      senders.some((sender) => sender.batched > 0),
    );
    if (batched.length === 0 || this.#isEndOverdue) return;
    this.#isEndOverdue = true;
    const settled = drainAll(batched).then(() => {
      this.#isEndOverdue = false;
    });
    void within(settled, SHUTDOWN_TIMEOUT_MS);
  }

  /** One line in the first gate's log: how many events were lost, and what to do. */
  #warnOfLost(): void {
    const gates = [...this.#open.values(), ...this.#closing];
    const lost = gates.reduce((total, { gate }) => total + gate.stats().in_flight, 0);
    if (lost === 0) return;
    gates[0]?.logger.warn(
      'The process ended before these audit events were sent. Await shutdown() before it ends, and before process.exit()',
      { lost },
    );
  }

  #announceLocalMode(logger: Logger): void {
    if (this.#hasAnnouncedLocalMode) return;
    this.#hasAnnouncedLocalMode = true;
    for (const { path } of STREAMS)
      logger.info(`Local mode: nothing is sent to ${path}, although a key is set`);
  }
}

async function drainAll(gates: readonly OpenGate[]): Promise<void> {
  await Promise.all(gates.flatMap(({ senders }) => senders.map((sender) => sender.drain())));
}
