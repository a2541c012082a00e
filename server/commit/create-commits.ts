import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import { QUEUE_BYTES_MAX } from '../limits.ts';
import { inMemory } from '../memory.ts';
import type { Metrics } from '../metrics.ts';
import { withTimeout } from '../store/with-timeout.ts';
import type { Store } from '../store/store.ts';
import { FlushNumbers, type Flushes } from './flush-numbers.ts';
import { GroupCommit } from './group-commit.ts';
import type { Stream } from './identity.ts';
import { IdentityConflicts } from './identity-conflicts.ts';
import { IdentityIndex } from './identity-index.ts';
import { SavedFilters } from './saved-filters.ts';

/** A stop must end within 10 s, and answering the callers may have taken most of them. */
const CLOSE_STEP_MS_MAX = 1500;

type CommitDeps = {
  config: Config;
  columns: Record<Stream, readonly string[]>;
  /** Numbers the inserts of decisions. */
  flushes?: Flushes;
  /** Files of event_identities are damaged or gone. */
  hasLostIdentities?: boolean;
  metrics: Metrics;
  logger: Logger;
  now: () => number;
};

/** A group commit and an identity index for each of the two event tables. */
export function createCommits(
  store: Store,
  {
    config,
    columns,
    flushes: numbers = new FlushNumbers(),
    hasLostIdentities = false,
    metrics,
    logger,
    now,
  }: CommitDeps,
) {
  const isSoleWriter = store.kind === 'embedded';
  const { handover, background } = store;
  const saved = handover && new SavedFilters({ handover, connection: background, logger, now });
  const create = (stream: Stream, connection: Store['writer']) => {
    const { lookups } = store;
    const isLogged = stream === 'decisions';
    const flushes = isLogged ? numbers : undefined;
    const conflicts = isSoleWriter
      ? undefined
      : new IdentityConflicts({
          connection: background,
          engines: store.engines,
          stream,
          logger,
          isLogged,
          now,
        });
    const identities = new IdentityIndex({
      connection: lookups,
      background,
      stream,
      conflicts,
      takeFilter: saved && (() => saved.take(stream)),
      hasLostIdentities,
      logger,
      now,
    });
    // Starts the recovery after a crash early, so that the first write need not wait for it.
    store
      .ready()
      .then(() => identities.open())
      .catch(() => undefined);
    const commit = new GroupCommit({
      stream,
      // The insert gives each logged row the number of its flush.
      columns: isLogged ? [...columns[stream], 'flush'] : columns[stream],
      flushes,
      connection,
      identities,
      mergeMs: config.asyncInsertMs,
      interval: { intervalMs: config.batchIntervalMs, rowsMin: config.batchRowsMin },
      ready: store.ready,
      batchRowsMax: config.batchRowsMax,
      queueRowsMax: config.queueRowsMax,
      queueBytesMax: inMemory(QUEUE_BYTES_MAX),
      onFlush: ({ rows, seconds }) => {
        metrics.flushSeconds.observe(seconds);
        metrics.batchRows.observe(rows);
      },
      onQueue: (rows) => {
        if (stream === 'decisions') metrics.queueRows.set(rows);
      },
    });
    return { identities, commit };
  };
  const decisions = create('decisions', store.writer);
  const usage = create('llm_invocations', store.usageWriter);
  const isFilled = ({ identities: { filter } }: typeof decisions) => filter?.isComplete === true;
  saved?.keep(
    () => ({ decisions: decisions.identities.filter, llm_invocations: usage.identities.filter }),
    () => Promise.all([decisions.identities.copied(), usage.identities.copied()]),
  );
  return {
    decisions: decisions.commit,
    llmInvocations: usage.commit,
    /**
     * Whether each filter is complete; ingest is slower until then. Undefined if other processes write to the store, because there are no
     * filters then.
     */
    identityFilters: () =>
      isSoleWriter ? { decisions: isFilled(decisions), llm_invocations: isFilled(usage) } : undefined,
    /** Resolves when the identities that a crash left out are stored for all decisions. */
    opened: () => store.ready().then(() => decisions.identities.open()),
    /** Resolves when the identities of all written decisions are stored. */
    marked: () => decisions.identities.copied(),
    /** Runs `work`, which writes events of a project without the commits. */
    aside: <T>(projectId: string, work: () => Promise<T>) =>
      decisions.identities.aside(projectId, () => usage.identities.aside(projectId, work)),
    /** Every caller has been answered, so a store that does not respond must not delay the stop. */
    close: async () => {
      const closeOne = async ({ commit, identities }: typeof decisions) => {
        await withTimeout(commit.drain(), CLOSE_STEP_MS_MAX);
        await withTimeout(identities.close(), CLOSE_STEP_MS_MAX);
      };
      const warn = (error: unknown) =>
        logger.warn({ err: error }, 'The store does not respond; the next start recovers what is missing');
      await Promise.all([decisions, usage].map((stream) => closeOne(stream).catch(warn)));
      // After both: each of them writes to event_identities.
      await saved?.saveLast({
        decisions: decisions.identities.filterToSave,
        llm_invocations: usage.identities.filterToSave,
      });
    },
  };
}
