import type { Connection } from '../store/connection.ts';
import { withTimeout } from '../store/with-timeout.ts';
import { sql } from '../store/sql.ts';

type Latest = { agent_version_id: string; version: number };
type LatestRow = Latest & { project_id: string; agent_name: string };
type AgentDirectoryOptions = {
  connection: Connection;
  ready: () => Promise<void>;
  /** True when no other process saves agents in this store. */
  isSoleWriter: boolean;
  now: () => number;
};

/** With other writers, versions known here are at most this old: they are stamped on decisions within 1 s of a save. */
const AGE_MS_MAX = 900;
/** Older than this they are read again behind the answer, so that where there is traffic no request waits for a read. */
const AGE_MS_READ_AGAIN = 300;
/** A request that does have to wait has its write before it, for which there must be time. */
const READ_WAIT_MS_MAX = 1500;

/** The latest version id of every agent, in memory: it is stamped on every decision. */
export class AgentDirectory {
  readonly #options: AgentDirectoryOptions;
  readonly #latest = new Map<string, Map<string, Latest>>();
  #readAtMs = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | undefined;

  constructor(options: AgentDirectoryOptions) {
    this.#options = options;
  }

  /** '' when the agent is not registered. At once when memory is fresh; else a promise that may reject with store_unavailable. */
  latestVersionId(projectId: string, agentName: string): string | Promise<string> {
    if (this.#isFresh()) {
      if (this.#isAging()) this.#read().catch(() => undefined);
      return this.#get(projectId, agentName);
    }
    return withTimeout(this.#read(), READ_WAIT_MS_MAX).then(() => this.#get(projectId, agentName));
  }

  /** A version was saved. A later one that is known already stays: a read may end after a save that it did not see. */
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
    const { isSoleWriter, now } = this.#options;
    return isSoleWriter ? this.#readAtMs > 0 : now() - this.#readAtMs <= AGE_MS_MAX;
  }

  #isAging(): boolean {
    const { isSoleWriter, now } = this.#options;
    return !isSoleWriter && now() - this.#readAtMs > AGE_MS_READ_AGAIN;
  }

  #read(): Promise<void> {
    this.#reading ??= this.#readAll().finally(() => (this.#reading = undefined));
    return this.#reading;
  }

  async #readAll(): Promise<void> {
    const startMs = this.#options.now();
    await this.#options.ready();
    const rows = await this.#options.connection.query<LatestRow>(sql('agents_latest'));
    for (const row of rows) this.saved(row);
    this.#readAtMs = startMs;
  }
}
