import { BASE_URL_DEFAULT, isTruthy, readEnvironment, timerMs, urlOf } from '../config.ts';
import { DESTROY_TIMEOUT_MS, HTTP_TIMEOUT_MS, SHUTDOWN_TIMEOUT_MS } from '../limits.ts';
import { safeLogger, type Logger } from '../logger.ts';
import { warnOfBoth } from '../startup-warning.ts';
import { createGate, INERT_GATE, type OpenGate } from './gate.ts';
import { holdOpen, within, type Loop } from './loop.ts';
import type { Sleep } from './send.ts';
import { Sender } from './sender.ts';

export type ConfigureOptions = {
  apiKey?: string | undefined;
  baseUrl?: string | undefined;
  timeoutMs?: number | undefined;
  logger?: Logger | undefined;
};

export type EmitterDeps = { now: () => number; sleep: Sleep; createLoop: () => Loop };

type Channel = { gate: OpenGate; senders: readonly Sender[]; baseUrl: string };

type ChannelOptions = ConfigureOptions & { apiKey: string; logger: Logger };

const PATHS = ['/v1/audit/decisions', '/v1/audit/llm-invocations'] as const;

/** One gate per key until shutdown, after which everything starts anew. */
export class Emitter {
  readonly #deps: EmitterDeps;
  readonly #open = new Map<string, Channel>();
  readonly #closing = new Set<Channel>();
  readonly #pathsAnnounced = new Set<string>();
  #loop: Loop | undefined;

  constructor(deps: EmitterDeps) {
    this.#deps = deps;
  }

  configure(options: ConfigureOptions = {}): OpenGate {
    const environment = readEnvironment();
    const apiKey = options.apiKey ?? environment.apiKey;
    const logger = safeLogger(options.logger);
    warnOfBoth({ apiKey, localPolicy: environment.localPolicy }, logger);
    if (!apiKey) return INERT_GATE;
    if (isTruthy(environment.localMode)) {
      this.#announceLocalMode(logger);
      return INERT_GATE;
    }
    const baseUrl = options.baseUrl ?? environment.baseUrl;
    const channel = this.#open.get(apiKey) ?? this.#openChannel({ ...options, apiKey, baseUrl, logger });
    if (baseUrl !== undefined && urlOf(baseUrl, '') !== urlOf(channel.baseUrl, '')) {
      logger.warn('This key is configured already; its first base address stays', {
        baseUrl: channel.baseUrl,
      });
    }
    return channel.gate;
  }

  /** Resolves when nothing is in flight. */
  async flush(): Promise<void> {
    await holdOpen(drainAll([...this.#open.values(), ...this.#closing]));
  }

  /** Drains what is in flight, gives up on the rest when the time is up, and closes every sender. */
  async shutdown({
    timeoutMs = SHUTDOWN_TIMEOUT_MS,
  }: { timeoutMs?: number | undefined } = {}): Promise<void> {
    for (const channel of this.#open.values()) {
      for (const sender of channel.senders) sender.close();
      this.#closing.add(channel);
    }
    this.#open.clear();
    this.#pathsAnnounced.clear();
    const channels = [...this.#closing];
    await within(drainAll(channels), timerMs(timeoutMs));
    for (const sender of channels.flatMap((channel) => channel.senders)) sender.destroy();
    await within(drainAll(channels), DESTROY_TIMEOUT_MS);
    for (const channel of channels) this.#closing.delete(channel);
  }

  #openChannel({ apiKey, logger, ...options }: ChannelOptions): Channel {
    const { baseUrl = BASE_URL_DEFAULT } = options;
    const timeoutMs = timerMs(options.timeoutMs ?? HTTP_TIMEOUT_MS);
    // Only now, because an import must not add a listener to the application's process.
    const loop = (this.#loop ??= this.#deps.createLoop());
    const { now, sleep } = this.#deps;
    const [decisions, usage] = PATHS.map(
      (path) => new Sender({ url: urlOf(baseUrl, path), path, apiKey, timeoutMs, logger, loop, sleep }),
    ) as [Sender, Sender];
    const gate = createGate({ decisions, usage }, now);
    const channel = { gate, senders: [decisions, usage], baseUrl };
    this.#open.set(apiKey, channel);
    return channel;
  }

  #announceLocalMode(logger: Logger): void {
    for (const path of PATHS) {
      if (this.#pathsAnnounced.has(path)) continue;
      this.#pathsAnnounced.add(path);
      logger.info(`Local mode: nothing is sent to ${path}, although a key is set`);
    }
  }
}

async function drainAll(channels: readonly Channel[]): Promise<void> {
  await Promise.all(channels.flatMap(({ senders }) => senders.map((sender) => sender.drain())));
}
