import { isLocalMode } from '../config.ts';
import { within } from '../audit/loop.ts';
import { REFRESH_WAIT_AFTER_FAILURE_MS } from '../limits.ts';
import { PolicyError, messageOf } from '../errors.ts';
import { pullBlocking } from './blocking.ts';
import { heldFrom, type HeldPolicy, type PlatformOptions, prepare } from './held-policy.ts';
import { loadParser } from './load-parser.ts';
import type { PolicyEngine } from './language/runtime.ts';
import type { PolicyOrigin, PolicySource } from './policy-source.ts';
import { pullPolicy, type PullRequest, type PullResult } from './pull.ts';
import { keepTrusted, pullTrusting } from './trust.ts';

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
  #held: HeldPolicy;
  #refreshing: Promise<void> | undefined;
  #fetches = 0;
  /** The latest fetch that succeeded. An earlier fetch that ends after it is ignored. */
  #newest = 0;
  /** When the last refresh used up its time and failed; undefined once one succeeded. */
  #failedAtMs: number | undefined;

  constructor(options: PlatformOptions, held: HeldPolicy) {
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

async function pull(options: PlatformOptions, held?: HeldPolicy): Promise<PullResult> {
  const result = await pullTrusting(options.trust, requestFrom(options, held), pullPolicy);
  logWarnings(options, result);
  if (result.pulled.kind === 'fresh' && !result.pulled.signed) await loadParser();
  return result;
}

function logWarnings({ agentName, logger }: PlatformOptions, { warnings }: PullResult): void {
  for (const { message, context } of warnings) logger.warn(message, { agent_name: agentName, ...context });
}

function requestFrom(options: PlatformOptions, held?: HeldPolicy): Omit<PullRequest, 'trusted'> {
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
