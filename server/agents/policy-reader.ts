import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import type { Counter } from 'prom-client';
import type { AgentDirectory } from './agent-directory.ts';
import type { AgentStore } from './agent-store.ts';
import { type AgentVersion, fetchBody } from './agent-version.ts';
import { type BundleSigner, expiryOf } from './bundle-signer.ts';

/** The answer to a policy fetch, ready to send. */
type ServedPolicy = {
  agent_version_id: string;
  etag: string;
  body: Buffer;
  /** When its bundle must be signed again, and when it expires. */
  dueAtMs: number;
  expiresAtMs: number;
};

type PolicyReaderOptions = {
  directory: Pick<AgentDirectory, 'latestVersionId'>;
  store: Pick<AgentStore, 'find'>;
  signer: Pick<BundleSigner, 'dueAtMs'>;
  /** Signs the latest version again if necessary. */
  sign: (projectId: string, agentName: string) => Promise<AgentVersion | undefined>;
  logger?: Logger | undefined;
  /** Counts bundles that were due, as `signed` or `failed`. */
  counter?: Pick<Counter<'result'>, 'inc'> | undefined;
  now: () => number;
};

/** If signing fails, a later fetch retries after this time. */
const SIGN_RETRY_MS = 10_000;

const CACHE_BYTES_MAX = 128 * 1024 * 1024;

/** Finds the current policy of an agent, from memory if possible: every run of an agent begins with this. */
export class PolicyReader {
  readonly #options: PolicyReaderOptions;
  /** By version id. */
  readonly #cache = new LRUCache<string, ServedPolicy>({
    maxSize: CACHE_BYTES_MAX,
    sizeCalculation: ({ body }) => body.length,
  });
  readonly #reading = new Map<string, Promise<ServedPolicy | undefined>>();
  readonly #signing = new Map<string, Promise<ServedPolicy>>();

  constructor(options: PolicyReaderOptions) {
    this.#options = options;
    // Prometheus sees the first increase only of a counter that exists before it.
    for (const result of ['signed', 'failed']) options.counter?.inc({ result }, 0);
  }

  /** Undefined when the agent does not exist. Rejects with store_unavailable. */
  async find(projectId: string, agentName: string): Promise<ServedPolicy | undefined> {
    const id = await this.#options.directory.latestVersionId(projectId, agentName);
    if (id === '') return undefined;
    const served = this.#cache.get(id) ?? (await this.#readOnce(id, projectId, agentName));
    if (served === undefined || served.dueAtMs > this.#options.now()) return served;
    return this.#signed(served, projectId, agentName);
  }

  /** Signs in the background while the bundle is still valid; callers wait only for one that has expired. */
  #signed(served: ServedPolicy, projectId: string, agentName: string): ServedPolicy | Promise<ServedPolicy> {
    const { now } = this.#options;
    const id = served.agent_version_id;
    let signing = this.#signing.get(id);
    if (signing === undefined) {
      signing = this.#sign(served, projectId, agentName).finally(() => this.#signing.delete(id));
      this.#signing.set(id, signing);
    }
    return served.expiresAtMs > now() ? served : signing;
  }

  /** Never rejects: a bundle that cannot be signed now is served as it is, and signing is tried again later. */
  async #sign(served: ServedPolicy, projectId: string, agentName: string): Promise<ServedPolicy> {
    const { sign, logger, counter, now } = this.#options;
    const version = await sign(projectId, agentName).catch((err: unknown) => {
      const expires_at = Number.isFinite(served.expiresAtMs)
        ? new Date(served.expiresAtMs).toISOString()
        : null;
      const context = { err, project_id: projectId, agent_name: agentName, expires_at };
      logger?.warn(context, 'The bundle could not be signed again before it expires');
      return undefined;
    });
    const next = version === undefined ? served : this.add(version);
    counter?.inc({ result: next.dueAtMs > now() ? 'signed' : 'failed' });
    next.dueAtMs = Math.max(next.dueAtMs, now() + SIGN_RETRY_MS);
    return next;
  }

  /** Concurrent fetches of one version share a read. Fetches after a save do not share a read that began before it. */
  #readOnce(id: string, projectId: string, agentName: string): Promise<ServedPolicy | undefined> {
    const running = this.#reading.get(id);
    if (running !== undefined) return running;
    const reading = this.#options.store
      .find(projectId, agentName)
      .then((version) => (version === undefined ? undefined : this.add(version)))
      .finally(() => this.#reading.delete(id));
    this.#reading.set(id, reading);
    return reading;
  }

  /** From now on, this version is served. */
  add(stored: AgentVersion): ServedPolicy {
    const { agent_version_id, etag } = stored;
    const served = {
      agent_version_id,
      etag,
      body: Buffer.from(JSON.stringify(fetchBody(stored))),
      dueAtMs: this.#options.signer.dueAtMs(stored),
      expiresAtMs: expiryOf(stored) ?? Number.POSITIVE_INFINITY,
    };
    this.#cache.set(agent_version_id, served);
    return served;
  }
}
