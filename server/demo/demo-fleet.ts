import type { Logger } from 'pino';
import type { AgentSaver } from '../agents/agent-saver.ts';
import type { Flushes } from '../commit/flush-numbers.ts';
import type { Connection } from '../store/connection.ts';
import { sql } from '../store/sql.ts';
import { clickhouseTime } from '../store/time.ts';
import type { FleetOptions } from './fleet-fill.ts';

type DemoFleetDeps = {
  connection: Connection;
  commits: { aside: <T>(projectId: string, work: () => Promise<T>) => Promise<T> };
  flushes: Flushes;
  agentSaver: AgentSaver;
  logger: Logger;
  now: () => number;
};

type Filled = { decisions: string; llm_invocations: string; is_recent: number };

/** With this seed, there is an incident on the day before the start. */
const SIZE = { rows: 25_000, days: 7, seed: 1393 };

/** Fills the project "Demo fleet" in the background: a week at the first start, later the time since the last record. */
export class DemoFleet {
  readonly #deps: DemoFleetDeps;
  readonly #stopping = new AbortController();
  #filling: Promise<void> | undefined;

  constructor(deps: DemoFleetDeps) {
    this.#deps = deps;
  }

  start(projectId: string): void {
    const { logger } = this.#deps;
    this.#filling = this.#fillInBackground(projectId).catch((error: unknown) => {
      if (!this.#stopping.signal.aborted)
        logger.warn({ err: error }, 'The demo fleet is incomplete; the next start completes it');
    });
  }

  /** Resolves when nothing is being written any more. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#filling;
  }

  /** Fills any project with a fleet of any size. Resolves with the number of decisions. */
  async fillProject(size: Omit<FleetOptions, 'nowMs' | 'versionIds' | 'flushes'>): Promise<number> {
    const { connection, commits, flushes, agentSaver, now } = this.#deps;
    // Imported only here: reading the YAML of its agents takes a twentieth of a start.
    const { fillFleet, registerFleet } = await import('./fleet-fill.ts');
    const versionIds = await registerFleet(agentSaver, size.projectId);
    const fill = () => fillFleet(connection, { ...size, flushes, versionIds, nowMs: now() });
    return commits.aside(size.projectId, fill);
  }

  async #fillInBackground(projectId: string): Promise<void> {
    const { connection, logger, now } = this.#deps;
    const startMs = performance.now();
    const params = { project_id: projectId, now: clickhouseTime(now()) };
    const [filled] = await connection.query<Filled>(sql('fleet_newest'), params);
    // After a short break, a restart shows the same figures as before.
    if (filled === undefined || filled.is_recent === 1) return;
    await this.fillProject({ ...SIZE, projectId, since: filled, signal: this.#stopping.signal });
    logger.info(
      { project_id: projectId, ms: Math.round(performance.now() - startMs) },
      'The demo fleet is filled',
    );
  }
}
