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
  /** Shared by all sources of the process; one key set per base address. */
  keySets: Map<string, KeySet>;
};

type HeldRecord = Held & { version: number | undefined };

/** Fetches, verifies and holds an agent's policy; throws when any of it fails. */
export async function resolveFromPlatform(options: PlatformOptions): Promise<PolicySource> {
  const { pulled } = await pull(options);
  if (pulled.kind === 'unchanged')
    throw new PolicyError('platform_error', 'The first fetch was answered 304');
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

  /** Never rejects: what fails is warned of, and the policy in hand stays. One fetch serves all who wait. */
  refresh(): Promise<void> {
    this.#refreshing ??= this.#refresh().finally(() => {
      this.#refreshing = undefined;
    });
    return this.#refreshing;
  }

  refreshSync(): void {
    try {
      const result = pullBlocking(requestFrom(this.#options, this.#held));
      // The worker's cache is not this thread's.
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
      // The only catch-all of this folder: spec 4.11 keeps the verified policy whatever a refresh meets.
      this.#keep(error);
    }
  }

  #accept({ pulled }: PullResult): void {
    if (pulled.kind === 'unchanged') return;
    const next = heldFrom(this.#options, pulled);
    const held = this.#held;
    if (held.origin === 'bundle' && next.origin !== 'bundle') {
      throw new PolicyError('bundle_missing', 'The answer has no bundle, and a verified one is held');
    }
    // Once more, because a blocking refresh may have come first while this one was on its way.
    if (next.version !== undefined && held.version !== undefined && next.version < held.version) {
      throw new PolicyError('bundle_outdated', 'A newer version is held already');
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
    throw new PolicyError('bundle_missing', 'The record has no bundle, and a signature is required');
  }
  const policy = engineFromYaml(record.policy_yaml);
  const agentVersionId = record.agent_version_id ?? null;
  return Object.freeze({ origin: 'yaml', etag, agentVersionId, version: undefined, policy });
}
