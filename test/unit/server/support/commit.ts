import { GroupCommit, type GroupCommitOptions } from '../../../../server/commit/group-commit.ts';
import { IdentityIndex } from '../../../../server/commit/identity-index.ts';
import type { Entry } from '../../../../server/commit/write-queue.ts';
import type { RequestError } from '../../../../server/errors.ts';
import { DECISION_COLUMNS } from '../../../../server/ingest/decision-event.ts';
import { createLogger } from '../../../../server/logger.ts';
import type { Store } from '../../../../server/store/store.ts';
import { entryOf } from '../../../support/rows.ts';

export type MadeCommit = {
  commit: GroupCommit;
  identities: IdentityIndex;
  batches: number[];
  close: () => Promise<void>;
};

/** A group commit as in a process that has just started. `batches` are the rows of each flush. */
export function makeCommit(store: Store, options: Partial<GroupCommitOptions> = {}): MadeCommit {
  const logger = createLogger('silent');
  const shared = { stream: 'decisions' as const, logger, now: Date.now };
  const identities = new IdentityIndex({ ...shared, connection: store.lookups });
  const batches: number[] = [];
  const commit = new GroupCommit({
    stream: 'decisions',
    columns: DECISION_COLUMNS,
    connection: store.writer,
    identities,
    ready: store.ready,
    batchRowsMax: 5000,
    queueRowsMax: 10_000,
    queueBytesMax: 10_000_000,
    onFlush: ({ rows }) => batches.push(rows),
    onQueue: () => undefined,
    ...options,
  });
  const close = async () => {
    await commit.drain();
    await identities.close();
  };
  return { commit, identities, batches, close };
}

export const entriesOf = (count: number, ...of: Parameters<typeof entryOf>): Entry[] =>
  Array.from({ length: count }, () => entryOf(...of));

/** The result of each write: accepted, duplicate, or the code of its error. */
export const writeAll = ({ commit }: MadeCommit, entries: Entry[], sinceMs?: number): Promise<string[]> =>
  Promise.all(
    entries.map((entry) => commit.write(entry, sinceMs).catch((error: RequestError) => error.code)),
  );

export type StoredRow = { event_id: string; reason: string };

export const storedIn = (store: Store, project_id: string): Promise<StoredRow[]> =>
  store.lookups.query(
    'SELECT toString(event_id) AS event_id, reason FROM decisions WHERE project_id = {project_id: String}',
    { project_id },
  );
