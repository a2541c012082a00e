import { LRUCache } from 'lru-cache';
import type { AgentDirectory } from './agent-directory.ts';
import type { AgentStore } from './agent-store.ts';
import { type AgentVersion, fetchBody } from './agent-version.ts';

type Directory = Pick<AgentDirectory, 'latestVersionId'>;
type Store = Pick<AgentStore, 'find'>;

/** The answer to a policy fetch, ready to send. */
export type ServedPolicy = { agent_version_id: string; version: number; etag: string; body: Buffer };

const CACHE_BYTES_MAX = 128 * 1024 * 1024;

/** Finds the policy that an agent gets now, from memory where possible: every run of an agent begins with this. */
export class PolicyReader {
  readonly #directory: Directory;
  readonly #store: Store;
  /** By version id. */
  readonly #cache = new LRUCache<string, ServedPolicy>({
    maxSize: CACHE_BYTES_MAX,
    sizeCalculation: ({ body }) => body.length,
  });
  readonly #reading = new Map<string, Promise<ServedPolicy | undefined>>();

  constructor({ directory, store }: { directory: Directory; store: Store }) {
    this.#directory = directory;
    this.#store = store;
  }

  /** Undefined when the agent does not exist. Rejects with store_unavailable. */
  async find(projectId: string, agentName: string): Promise<ServedPolicy | undefined> {
    const id = await this.#directory.latestVersionId(projectId, agentName);
    if (id === '') return undefined;
    return this.#cache.get(id) ?? this.#readOnce(id, projectId, agentName);
  }

  /** Concurrent fetches of one version share a read. A read that began before a save is not shared with fetches after it. */
  #readOnce(id: string, projectId: string, agentName: string): Promise<ServedPolicy | undefined> {
    const running = this.#reading.get(id);
    if (running !== undefined) return running;
    const reading = this.#store
      .find(projectId, agentName)
      .then((version) => (version === undefined ? undefined : this.#add(version)))
      .finally(() => this.#reading.delete(id));
    this.#reading.set(id, reading);
    return reading;
  }

  #add(stored: AgentVersion): ServedPolicy {
    const { agent_version_id, version, etag } = stored;
    const served = { agent_version_id, version, etag, body: Buffer.from(JSON.stringify(fetchBody(stored))) };
    this.#cache.set(agent_version_id, served);
    return served;
  }
}
