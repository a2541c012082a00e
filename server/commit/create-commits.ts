import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import { QUEUE_BYTES_MAX } from '../limits.ts';
import type { Metrics } from '../metrics.ts';
import { withTimeout } from '../store/with-timeout.ts';
import type { Store } from '../store/store.ts';
import { GroupCommit } from './group-commit.ts';
import type { Stream } from './identity.ts';
import { IdentityConflicts } from './identity-conflicts.ts';
import { IdentityIndex } from './identity-index.ts';

/** A stop ends within 10 s, and callers may have had most of them. */
const CLOSE_STEP_MS_MAX = 1500;

type CommitDeps = {
  config: Config;
  columns: Record<Stream, readonly string[]>;
  metrics: Metrics;
  logger: Logger;
  now: () => number;
};

/** The two streams of events, each with its group commit and its index of identities. */
export function createCommits(store: Store, { config, columns, metrics, logger, now }: CommitDeps) {
  const isSoleWriter = store.kind === 'embedded';
  const create = (stream: Stream, connection: Store['writer']) => {
    const { lookups, background } = store;
    const conflicts = isSoleWriter
      ? undefined
      : new IdentityConflicts({ connection: background, engines: store.engines, stream, logger });
    const identities = new IdentityIndex({
      connection: lookups,
      background,
      stream,
      conflicts,
      logger,
      now,
    });
    // What a crash left behind is looked for before the first write has to wait for it.
    store
      .ready()
      .then(() => identities.open())
      .catch(() => undefined);
    const commit = new GroupCommit({
      stream,
      columns: columns[stream],
      connection,
      identities,
      ready: store.ready,
      batchRowsMax: config.batchRowsMax,
      queueRowsMax: config.queueRowsMax,
      queueBytesMax: QUEUE_BYTES_MAX,
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
  return {
    decisions: decisions.commit,
    llmInvocations: usage.commit,
    /** By now every caller has an answer: a store that is silent must not hold up the end. */
    close: async () => {
      const closeOne = async ({ commit, identities }: typeof decisions) => {
        await withTimeout(commit.drain(), CLOSE_STEP_MS_MAX);
        await withTimeout(identities.close(), CLOSE_STEP_MS_MAX);
      };
      const warn = (error: unknown) =>
        logger.warn(
          { err: error },
          'The store is silent; what it has not said is found out at the next start',
        );
      await Promise.all([decisions, usage].map((stream) => closeOne(stream).catch(warn)));
    },
  };
}
