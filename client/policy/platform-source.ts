import { isLocalMode } from '../config.ts';
import { within } from '../audit/loop.ts';
import { REFRESH_WAIT_AFTER_FAILURE_MS } from '../limits.ts';
import type { Logger } from '../logger.ts';
import { PolicyError, messageOf } from '../errors.ts';
import { pullBlocking } from './blocking.ts';
import { parseBearerKey } from './bearer-key.ts';
import { engineFromYaml } from './engine.ts';
import { loadParser } from './load-parser.ts';
import type { PolicyEngine } from './language/runtime.ts';
import type { PolicyOrigin, PolicySource } from './policy-source.ts';
import { pullPolicy, type Pulled, type PullRequest, type PullResult } from './pull.ts';
import { keepTrusted, pullTrusting, type Trust } from './trust.ts';
import { VersionFloor } from './version-floor.ts';
import { createWasmEngine } from './wasm-engine.ts';

type PlatformOptions = {
  agentName: string;
  bearerKey: string;
  baseUrl: string;
  timeoutMs: number;
  trust: Trust;
  requireSignature: boolean;
  /** Where the smallest version that may be installed is kept. */
  stateDir: string | undefined;
  logger: Logger;
  now: () => number;
};

/** When a bundle expires, and from when on the client asks for a later signature without a condition, because its ETag stays the same. */
type Expiry = { expiresAtMs: number; askAtMs: number };

/** The state of a source: replaced as a whole, and only by a verified policy. */
type HeldRecord = Omit<PolicySource, 'refresh' | 'refreshSync'> &
  Readonly<{
    version: number | undefined;
    kid?: string;
    wasmHash?: string;
    expiry?: Expiry | undefined;
  }>;

/** How often a blocking refresh waits as long as it would without a failure. */
const FULL_WAIT_EVERY_MS = 60_000;

/** Fetches and verifies an agent's policy; throws if that fails. */
export async function resolveFromPlatform(options: PlatformOptions): Promise<PolicySource> {
  const result = await pull(options);
  if (result.pulled.kind === 'unchanged')
    throw new PolicyError('platform_error', 'The first fetch was answered with 304');
  const held = heldFrom(options, result.pulled);
  prepare(options, held);
  return new PlatformSource(options, held);
}

class PlatformSource implements PolicySource {
  readonly #options: PlatformOptions;
  #held: HeldRecord;
  #refreshing: Promise<void> | undefined;
  #fetches = 0;
  /** The latest fetch that succeeded. An earlier fetch that ends after it is ignored. */
  #newest = 0;
  /** When the last refresh used up its time and failed; undefined once one succeeded. */
  #failedAtMs: number | undefined;

  constructor(options: PlatformOptions, held: HeldRecord) {
    this.#options = options;
    this.#held = held;
  }

  get origin(): PolicyOrigin {
    return this.#held.origin;
  }

  get etag(): string | null {
    return this.#held.etag;
  }

  get agentVersionId(): string | null {
    return this.#held.agentVersionId;
  }

  get policy(): PolicyEngine {
    return this.#held.policy;
  }

  /**
   * Never rejects: on a failure it warns and keeps the policy. Overlapping refreshes share one fetch. After a refresh that used up its
   * time, it waits for 250 ms at most, and a policy that arrives later is used by the next run.
   */
  refresh(): Promise<void> {
    return (this.#refreshing ??= this.#refresh().finally(() => (this.#refreshing = undefined)));
  }

  refreshSync(): void {
    const { trust, timeoutMs } = this.#options;
    const startedAtMs = performance.now();
    // Nothing continues in the background of a blocked thread, so the full time is allowed from time to time.
    const isShort = this.#failedAtMs !== undefined && startedAtMs < this.#failedAtMs + FULL_WAIT_EVERY_MS;
    try {
      refuseInLocalMode();
      const request = { ...requestFrom(this.#options, this.#held), trusted: trust.keys };
      const waitMs = isShort ? Math.min(timeoutMs, REFRESH_WAIT_AFTER_FAILURE_MS) : timeoutMs;
      const result = pullBlocking({ ...request, timeoutMs: waitMs });
      keepTrusted(trust, result);
      logWarnings(this.#options, result);
      this.#install(result, (this.#fetches += 1));
    } catch (error) {
      if (!isShort) this.#noteIfSlow(startedAtMs);
      this.#keep(error);
    }
  }

  /** Each sends its own request: a hanging request must not keep the next run from a service that is back. */
  async #refresh(): Promise<void> {
    const isShort = this.#failedAtMs !== undefined;
    const refresh = { number: (this.#fetches += 1), isLate: false };
    let isDone = false;
    const fetching = this.#fetch(refresh).finally(() => {
      isDone = true;
    });
    if (!isShort) return fetching;
    await within(fetching, REFRESH_WAIT_AFTER_FAILURE_MS);
    if (isDone) return;
    refresh.isLate = true;
    this.#keep(
      new Error(`no answer within ${REFRESH_WAIT_AFTER_FAILURE_MS} ms, as after an earlier failure`),
    );
  }

  async #fetch(refresh: { number: number; isLate: boolean }): Promise<void> {
    const startedAtMs = performance.now();
    try {
      refuseInLocalMode();
      const result = await pull(this.#options, this.#held);
      if (refresh.number > this.#newest) this.#install(result, refresh.number);
    } catch (error) {
      if (refresh.number < this.#newest) return;
      // The verified policy stays, whatever the cause of the failure (docs/client.md, "Refresh").
      this.#noteIfSlow(startedAtMs);
      // The missing answer has been reported already.
      const isReported = refresh.isLate && error instanceof PolicyError && error.code === 'unreachable';
      if (!isReported) this.#keep(error);
    }
  }

  /** A failure that took at least half its time holds up a run like a timeout. An earlier failure costs the next run nothing. */
  #noteIfSlow(startedAtMs: number): void {
    const nowMs = performance.now();
    if (nowMs - startedAtMs >= this.#options.timeoutMs / 2) this.#failedAtMs = nowMs;
  }

  #install(result: PullResult, number: number): void {
    this.#accept(result);
    this.#newest = number;
    this.#failedAtMs = undefined;
  }

  #accept({ pulled, warnings }: PullResult): void {
    if (pulled.kind === 'unchanged') return;
    const held = this.#held;
    if (held.origin === 'bundle' && !pulled.signed) {
      throw new PolicyError('bundle_missing', 'The response has no bundle, but a verified bundle is in use');
    }
    const next = heldFrom(this.#options, pulled);
    // Checked again: a blocking refresh may have installed a newer version in the meantime.
    if (next.version !== undefined && held.version !== undefined && next.version < held.version) {
      throw new PolicyError('bundle_outdated', 'A newer version is in use already');
    }
    prepare(this.#options, next);
    // The same module under a new signature is the same policy.
    const isSame = next.wasmHash !== undefined && next.wasmHash === held.wasmHash;
    this.#held = isSame ? Object.freeze({ ...next, policy: held.policy }) : next;
    // The warning about a succession already names the key.
    const isReported = warnings.some(({ context }) => context['kid'] === next.kid);
    if (held.kid === undefined || held.kid === next.kid || isReported) return;
    this.#options.logger.warn('The policy is signed by another trusted key than before', {
      agent_name: this.#options.agentName,
      kid: next.kid,
      kid_before: held.kid,
      base_url: this.#options.baseUrl,
    });
  }

  #keep(error: unknown): void {
    this.#options.logger.warn('Policy refresh failed; the previous policy stays in force', {
      agent_name: this.#options.agentName,
      problem: messageOf(error),
      ...this.#expiredAt(),
    });
  }

  #expiredAt(): { expired_at?: string } {
    const { expiry } = this.#held;
    if (expiry === undefined || expiry.expiresAtMs > this.#options.now()) return {};
    return { expired_at: new Date(expiry.expiresAtMs).toISOString() };
  }
}

function refuseInLocalMode(): void {
  if (isLocalMode()) throw new Error('GATE_LOCAL_MODE is on: the platform is not contacted');
}

async function pull(options: PlatformOptions, held?: HeldRecord): Promise<PullResult> {
  const result = await pullTrusting(options.trust, requestFrom(options, held), pullPolicy);
  logWarnings(options, result);
  if (result.pulled.kind === 'fresh' && !result.pulled.signed) await loadParser();
  return result;
}

function logWarnings({ agentName, logger }: PlatformOptions, { warnings }: PullResult): void {
  for (const { message, context } of warnings) logger.warn(message, { agent_name: agentName, ...context });
}

function requestFrom(options: PlatformOptions, held?: HeldRecord): Omit<PullRequest, 'trusted'> {
  const { agentName, bearerKey, baseUrl, timeoutMs, now } = options;
  const nowMs = now();
  const isConditional = held?.expiry === undefined || nowMs < held.expiry.askAtMs;
  return {
    agentName,
    bearerKey,
    baseUrl,
    timeoutMs,
    isFirst: held === undefined,
    etag: isConditional ? (held?.etag ?? undefined) : undefined,
    heldVersion: held?.version,
    nowMs,
  };
}

type Fresh = Pulled & { kind: 'fresh' };

function heldFrom(options: PlatformOptions, { record, etag, signed }: Fresh): HeldRecord {
  if (signed) {
    const { module, kid, version, wasmHash, agentVersionId, expiresAtMs } = signed;
    const expiry = expiresAtMs === undefined ? undefined : expiryFrom(expiresAtMs, options.now());
    const policy = createWasmEngine(module);
    return Object.freeze({ origin: 'bundle', etag, kid, version, wasmHash, agentVersionId, expiry, policy });
  }
  if (options.requireSignature) {
    throw new PolicyError('bundle_missing', 'The record has no bundle, but a signed bundle is required');
  }
  const policy = engineFromYaml(record.policy_yaml);
  const agentVersionId = record.agent_version_id ?? null;
  // Nothing proves its version, but no older policy may follow it, not even a signed one.
  const { version } = record;
  return Object.freeze({ origin: 'yaml', etag, agentVersionId, version, policy });
}

/** Asks from the middle of the remaining time on. */
function expiryFrom(expiresAtMs: number, nowMs: number): Expiry {
  return { expiresAtMs, askAtMs: nowMs + (expiresAtMs - nowMs) / 2 };
}

/** The checks before a policy takes effect; throws if it must not. */
function prepare({ agentName, bearerKey, stateDir, logger }: PlatformOptions, held: HeldRecord): void {
  const { projectId } = parseBearerKey(bearerKey);
  const floor = stateDir === undefined ? undefined : new VersionFloor(stateDir, { projectId, agentName });
  if (held.origin === 'bundle' && held.version !== undefined) return floor?.raise(held.version);
  floor?.refuseUnsigned();
  const message =
    'The policy in force is not signed: whoever answers at the base URL can change it. requireSignature refuses such policies';
  logger.warn(message, { agent_name: agentName });
}
