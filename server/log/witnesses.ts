import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { type NoteSignature, signatureLine } from '../../client/proof/index.ts';
import type { Witness } from '../config-values.ts';
import { WITNESS_OFFER_MS_MIN, WITNESS_POLL_MS, WITNESS_QUIET_MS_MAX } from '../limits.ts';
import type { BoundedStore } from '../store/bounded-store.ts';
import { sql } from '../store/sql.ts';
import { clickhouseTime } from '../store/time.ts';
import { addCheckpoint, type WitnessAnswer } from './add-checkpoint.ts';
import { type ProjectLog, witnessOf } from './project-log.ts';

type WitnessesOptions = {
  witnesses: readonly Witness[];
  store: BoundedStore;
  logOf: (projectId: string) => ProjectLog;
  logger: Logger;
  now: () => number;
};

/** A log that grew since its last offer. */
type Grown = { size: number; sinceMs: number; isQuiet: boolean };
type Cosigned = { size: number; atMs: number };

/**
 * Whether a log is offered now: at most once a minute, and not during a burst, so that the cosigned checkpoint stays the newest for a
 * while.
 */
export function isDue(
  { sinceMs, isQuiet }: Omit<Grown, 'size'>,
  offeredAtMs: number,
  nowMs: number,
): boolean {
  const isSettled = isQuiet || nowMs - sinceMs >= WITNESS_QUIET_MS_MAX;
  return isSettled && nowMs - offeredAtMs >= WITNESS_OFFER_MS_MIN;
}

/**
 * Offers the checkpoints of grown logs to each witness independently, so that an unreachable one delays nothing. The cosignatures are in
 * the store, so every service shows them. Several services may do the same; each checks the store first.
 */
export class Witnesses {
  readonly #options: WitnessesOptions;
  readonly #ending = new AbortController();
  /** By witness and project. The times are by performance.now(). */
  readonly #grown = new Map<string, Grown>();
  readonly #offeredAtMs = new Map<string, number>();
  #round = '0';
  #running: Promise<void> | undefined;

  constructor(options: WitnessesOptions) {
    this.#options = options;
  }

  start(): void {
    if (this.#options.witnesses.length > 0) this.#running = this.#run();
  }

  async close(): Promise<void> {
    this.#ending.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#ending;
    const busy = new Map<Witness, Promise<void>>();
    let hasWarned = false;
    while (!signal.aborted) {
      try {
        await this.#findGrown();
        for (const witness of this.#options.witnesses)
          if (!busy.has(witness))
            busy.set(
              witness,
              this.#offerAll(witness).finally(() => busy.delete(witness)),
            );
        hasWarned = false;
      } catch (error) {
        if (!hasWarned)
          this.#options.logger.warn({ err: error }, 'The logs cannot be read for the witnesses');
        hasWarned = true;
      }
      await sleep(WITNESS_POLL_MS, undefined, { signal }).catch(() => undefined);
    }
    await Promise.all(busy.values());
  }

  /** Notes which logs grew since the last call. */
  async #findGrown(): Promise<void> {
    const { store, logOf, witnesses } = this.#options;
    for (const grown of this.#grown.values()) grown.isQuiet = true;
    const rows = await store.query<{ project_id: string; newest: string }>(sql('log_grown'), {
      round: this.#round,
    });
    for (const { project_id } of rows.filter((row) => row.project_id !== '')) {
      const size = await logOf(project_id).size();
      for (const { key } of witnesses) {
        const place = placeOf(key.name, project_id);
        const sinceMs = this.#grown.get(place)?.sinceMs ?? performance.now();
        this.#grown.set(place, { size, sinceMs, isQuiet: false });
      }
    }
    for (const { newest } of rows) if (BigInt(newest) > BigInt(this.#round)) this.#round = newest;
  }

  async #offerAll(witness: Witness): Promise<void> {
    const { logger } = this.#options;
    for (const [place, grown] of this.#grown) {
      const [name, projectId = ''] = place.split('\n');
      if (name !== witness.key.name || this.#ending.signal.aborted) continue;
      const offeredAtMs = this.#offeredAtMs.get(place) ?? Number.NEGATIVE_INFINITY;
      if (!isDue(grown, offeredAtMs, performance.now())) continue;
      try {
        const isDone = await this.#offer(witness, projectId);
        // It may have grown again meanwhile.
        if (isDone && this.#grown.get(place) === grown) this.#grown.delete(place);
      } catch (error) {
        this.#offeredAtMs.set(place, performance.now());
        logger.warn(
          { err: error, witness: name, project_id: projectId },
          'A witness did not sign a checkpoint',
        );
        return;
      }
    }
  }

  /** Resolves with true if the witness has signed the log's current state. */
  async #offer(witness: Witness, projectId: string): Promise<boolean> {
    const { logOf, logger, now } = this.#options;
    const log = logOf(projectId);
    const [firstSize, cosigned] = await Promise.all([log.size(), this.#cosigned(witness, projectId)]);
    let size = firstSize;
    if (cosigned.size >= size) return true;
    const place = placeOf(witness.key.name, projectId);
    const ageMs = now() - cosigned.atMs;
    // From the future: the clock of its service was ahead.
    if (ageMs >= 0 && ageMs < WITNESS_OFFER_MS_MIN) {
      // Another service offered it.
      this.#offeredAtMs.set(place, performance.now() - ageMs);
      return false;
    }
    this.#offeredAtMs.set(place, performance.now());
    const offerFrom = async (oldSize: number): Promise<WitnessAnswer> => {
      const checkpoint = await log.signed(size);
      const proof = await log.consistency(oldSize, size);
      return addCheckpoint(witness, { oldSize, proof, checkpoint }, this.#ending.signal);
    };
    let answer = await offerFrom(cosigned.size);
    if (answer.kind === 'at_size') {
      // Another service may have just offered a larger checkpoint.
      if (answer.size > size) size = await log.size();
      if (answer.size <= size) answer = await offerFrom(answer.size);
    }
    if (answer.kind === 'cosigned') {
      await this.#keep(projectId, size, answer.signature);
      return true;
    }
    logger.error(
      { witness: witness.key.name, project_id: projectId, size, answer },
      answer.kind === 'at_size'
        ? 'A witness has seen more of a log than there is: the store may be an old copy'
        : 'A witness refused a checkpoint',
    );
    return false;
  }

  async #cosigned({ key }: Witness, project_id: string): Promise<Cosigned> {
    const params = { project_id, ...witnessOf(key) };
    const [row] = await this.#options.store.query<{ size: string; at_ms: string }>(
      sql('log_cosigned'),
      params,
    );
    return { size: Number(row?.size ?? 0), atMs: Number(row?.at_ms ?? 0) };
  }

  async #keep(project_id: string, size: number, signature: NoteSignature): Promise<void> {
    const { store, now } = this.#options;
    const values = {
      project_id,
      size,
      witness: signature.name,
      cosigned_at: clickhouseTime(now()),
      line: signatureLine(signature).trimEnd(),
    };
    await store.append({ table: 'log_cosignatures', values });
  }
}

function placeOf(witness: string, projectId: string): string {
  return `${witness}\n${projectId}`;
}
