import type { Connection } from '../store/connection.ts';
import { withTimeout } from '../store/with-timeout.ts';
import { sql } from '../store/sql.ts';

type Latest = { agent_version_id: string; version: number };
type LatestRow = Latest & { project_id: string; agent_name: string };
type AgentDirectoryOptions = {
  connection: Connection;
  ready: () => Promise<void>;
  /** No other process saves agents in this store. */
  isSoleWriter: boolean;
};

/** With other writers, the cache is at most this old, so that decisions carry a new version within 1 s of its save. */
const AGE_MS_MAX = 900;
/** An older cache is refreshed in the background, so that with steady traffic no request waits for a read. */
const AGE_MS_READ_AGAIN = 300;
/** A request that waits for a read must have time left for its write. */
const READ_WAIT_MS_MAX = 1500;

/** The latest version id of every agent, in memory because every decision carries it. */
export class AgentDirectory {
  readonly #options: AgentDirectoryOptions;
  readonly #latest = new Map<string, Map<string, Latest>>();
  #readAtMs = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | undefined;

  constructor(options: AgentDirectoryOptions) {
    this.#options = options;
  }

  /** '' if the agent is not registered. A promise, which may reject with store_unavailable, if the cache is not fresh. */
  latestVersionId(projectId: string, agentName: string): string | Promise<string> {
    if (this.#isFresh()) {
      if (this.#isAging()) this.#read().catch(() => undefined);
      return this.#get(projectId, agentName);
    }
    return withTimeout(this.#read(), READ_WAIT_MS_MAX).then(() => this.#get(projectId, agentName));
  }

  /** Records a saved version. A later known version is kept, because a read may have begun before its save. */
  saved({ project_id, agent_name, agent_version_id, version }: LatestRow): void {
    let agents = this.#latest.get(project_id);
    if (agents === undefined) this.#latest.set(project_id, (agents = new Map()));
    if ((agents.get(agent_name)?.version ?? 0) <= version)
      agents.set(agent_name, { agent_version_id, version });
  }

  #get(projectId: string, agentName: string): string {
    return this.#latest.get(projectId)?.get(agentName)?.agent_version_id ?? '';
  }

  #isFresh(): boolean {
    if (this.#options.isSoleWriter) return this.#readAtMs > 0;
    return performance.now() - this.#readAtMs <= AGE_MS_MAX;
  }

  #isAging(): boolean {
    return !this.#options.isSoleWriter && performance.now() - this.#readAtMs > AGE_MS_READ_AGAIN;
  }

  #read(): Promise<void> {
    this.#reading ??= this.#readAll().finally(() => (this.#reading = undefined));
    return this.#reading;
  }

  async #readAll(): Promise<void> {
    const startMs = performance.now();
    await this.#options.ready();
    const rows = await this.#options.connection.query<LatestRow>(sql('agents_latest'));
    for (const row of rows) this.saved(row);
    this.#readAtMs = startMs;
  }
}
