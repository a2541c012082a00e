import type { Logger } from '../logger.ts';
import { PolicyError, messageOf } from '../errors.ts';
import { pullBlocking } from './blocking.ts';
import { engineFromBundle, engineFromYaml } from './engine.ts';
import type { KeySet } from './key-set.ts';
import type { PolicyEngine } from './language/index.ts';
import type { Held, PolicyOrigin, PolicySource } from './policy-source.ts';
import { pullPolicy, type Pulled, type PullRequest, type PullResult } from './pull.ts';

type PlatformOptions = {
  agentName: string;
  bearerKey: string;
  baseUrl: string;
  timeoutMs: number;
  pinned: Uint8Array | undefined;
  requireSignature: boolean;
  logger: Logger;
  now: () => number;
  /** One key set per base URL, shared by all sources. */
  keySets: Map<string, KeySet>;
};

type HeldRecord = Held & { version: number | undefined };

/** Fetches and verifies an agent's policy; throws if that fails. */
export async function resolveFromPlatform(options: PlatformOptions): Promise<PolicySource> {
  const { pulled } = await pull(options);
  if (pulled.kind === 'unchanged')
    throw new PolicyError('platform_error', 'The first fetch was answered with 304');
  return new PlatformSource(options, heldFrom(options, pulled));
}

class PlatformSource implements PolicySource {
  readonly #options: PlatformOptions;
  #held: HeldRecord;
  #refreshing: Promise<void> | undefined;

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

  /** Never rejects: on a failure it warns and keeps the policy. Overlapping refreshes share one fetch. */
  refresh(): Promise<void> {
    this.#refreshing ??= this.#refresh().finally(() => {
      this.#refreshing = undefined;
    });
    return this.#refreshing;
  }

  refreshSync(): void {
    try {
      const result = pullBlocking(requestFrom(this.#options, this.#held));
      // The worker has a cache of its own.
      if (result.keySet) this.#options.keySets.set(this.#options.baseUrl, result.keySet);
      this.#accept(result);
    } catch (error) {
      this.#keep(error);
    }
  }

  async #refresh(): Promise<void> {
    try {
      this.#accept(await pull(this.#options, this.#held));
    } catch (error) {
      // Whatever a refresh fails on, the verified policy stays (docs/client.md, "Refresh").
      this.#keep(error);
    }
  }

  #accept({ pulled }: PullResult): void {
    if (pulled.kind === 'unchanged') return;
    const next = heldFrom(this.#options, pulled);
    const held = this.#held;
    if (held.origin === 'bundle' && next.origin !== 'bundle') {
      throw new PolicyError('bundle_missing', 'The response has no bundle, but a verified bundle is in use');
    }
    // Checked again: a blocking refresh may have installed a newer version meanwhile.
    if (next.version !== undefined && held.version !== undefined && next.version < held.version) {
      throw new PolicyError('bundle_outdated', 'A newer version is in use already');
    }
    this.#held = next;
  }

  #keep(error: unknown): void {
    this.#options.logger.warn('Policy refresh failed; the previous policy stays in force', {
      agent_name: this.#options.agentName,
      problem: messageOf(error),
    });
  }
}

function pull(options: PlatformOptions, held?: HeldRecord): Promise<PullResult> {
  const { now, keySets, baseUrl } = options;
  return pullPolicy(requestFrom(options, held), { now, onKeySet: (keySet) => keySets.set(baseUrl, keySet) });
}

function requestFrom(options: PlatformOptions, held?: HeldRecord): PullRequest {
  const { agentName, bearerKey, baseUrl, timeoutMs, pinned } = options;
  return {
    agentName,
    bearerKey,
    baseUrl,
    timeoutMs,
    pinned,
    keySet: options.keySets.get(baseUrl),
    isFirst: held === undefined,
    etag: held?.etag ?? undefined,
    heldVersion: held?.version,
  };
}

function heldFrom(
  options: PlatformOptions,
  { record, etag, signed }: Pulled & { kind: 'fresh' },
): HeldRecord {
  if (signed) {
    return Object.freeze({ origin: 'bundle', etag, ...signed, policy: engineFromBundle(record) });
  }
  if (options.requireSignature) {
    throw new PolicyError('bundle_missing', 'The record has no bundle, but a signed bundle is required');
  }
  const policy = engineFromYaml(record.policy_yaml);
  const agentVersionId = record.agent_version_id ?? null;
  return Object.freeze({ origin: 'yaml', etag, agentVersionId, version: undefined, policy });
}
