import type { AgentDirectory } from './agent-directory.ts';
import type { AgentStore } from './agent-store.ts';
import { PolicyCache, type ServedPolicy } from './policy-cache.ts';

type Directory = Pick<AgentDirectory, 'latestVersionId'>;
type Store = Pick<AgentStore, 'find'>;

/** The policy that an agent gets now, from memory wherever it can: this is how every agent run starts. */
export class PolicyReader {
  readonly #directory: Directory;
  readonly #store: Store;
  readonly #cache = new PolicyCache();
  readonly #reading = new Map<string, Promise<ServedPolicy | undefined>>();

  constructor({ directory, store }: { directory: Directory; store: Store }) {
    this.#directory = directory;
    this.#store = store;
  }

  /** Undefined when there is no such agent. Rejects with store_unavailable. */
  async find(projectId: string, agentName: string): Promise<ServedPolicy | undefined> {
    const id = await this.#directory.latestVersionId(projectId, agentName);
    if (id === '') return undefined;
    return this.#cache.get(id) ?? this.#readOnce(id, projectId, agentName);
  }

  /** Agents that start at once after a save share one read, and never one that began before the save. */
  #readOnce(id: string, projectId: string, agentName: string): Promise<ServedPolicy | undefined> {
    const running = this.#reading.get(id);
    if (running !== undefined) return running;
    const reading = this.#store
      .find(projectId, agentName)
      .then((version) => (version === undefined ? undefined : this.#cache.add(version)))
      .finally(() => this.#reading.delete(id));
    this.#reading.set(id, reading);
    return reading;
  }
}
