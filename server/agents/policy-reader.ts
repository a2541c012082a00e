import type { AgentDirectory } from './agent-directory.ts';
import type { AgentStore } from './agent-store.ts';
import { PolicyCache, type ServedPolicy } from './policy-cache.ts';

/** The policy that an agent gets now, from memory wherever it can: this is how every agent run starts. */
export class PolicyReader {
  readonly #directory: AgentDirectory;
  readonly #store: AgentStore;
  readonly #cache = new PolicyCache();
  readonly #reading = new Map<string, Promise<ServedPolicy | undefined>>();

  constructor({ directory, store }: { directory: AgentDirectory; store: AgentStore }) {
    this.#directory = directory;
    this.#store = store;
  }

  /** Undefined when there is no such agent. Rejects with store_unavailable. */
  async find(projectId: string, agentName: string): Promise<ServedPolicy | undefined> {
    const id = await this.#directory.latestVersionId(projectId, agentName);
    if (id === '') return undefined;
    return this.#cache.get(id) ?? this.#readOnce(projectId, agentName);
  }

  /** Agents that start at once after a save share one read. */
  #readOnce(projectId: string, agentName: string): Promise<ServedPolicy | undefined> {
    const key = `${projectId}/${agentName}`;
    const running = this.#reading.get(key);
    if (running !== undefined) return running;
    const reading = this.#store
      .find(projectId, agentName)
      .then((version) => (version === undefined ? undefined : this.#cache.add(version)))
      .finally(() => this.#reading.delete(key));
    this.#reading.set(key, reading);
    return reading;
  }
}
