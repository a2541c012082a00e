import { DECISION_COLUMNS, DECISION_ROW } from '../../../server/ingest/decision-event.ts';
import { entryFrom } from '../../../server/ingest/event-row.ts';
import { type Dimension, readBreakdown } from '../../../server/records/breakdown.ts';
import { readSummary, readTimeseries } from '../../../server/records/counts.ts';
import { type AuditReads, createReads, type Writers } from '../../../server/records/days.ts';
import { readDecisions } from '../../../server/records/decisions.ts';
import type { DecisionFilters } from '../../../server/records/filters.ts';
import { findDecision } from '../../../server/records/find-decision.ts';
import { parseCursor } from '../../../server/records/cursor.ts';
import type { ReadWindow } from '../../../server/records/window.ts';
import { GroupCommit } from '../../../server/commit/group-commit.ts';
import type { Entry } from '../../../server/commit/write-queue.ts';
import { IdentityIndex } from '../../../server/commit/identity-index.ts';
import { readConfig } from '../../../server/config.ts';
import { createLogger } from '../../../server/logger.ts';
import { createStore, type Store } from '../../../server/store/store.ts';
import type { ModelRecord } from './model.ts';

/** What a history does to the store, and what it asks. */
export type World = {
  store: Store;
  /** What the service keeps in memory between requests. */
  reads: AuditReads;
  commit: GroupCommit;
  /** Forgets all of it, as a restart does. */
  restart: (writers: Writers) => Promise<void>;
  close: () => Promise<void>;
};

const logger = createLogger('silent');

/** The real store with the real write path and reads, in this process. */
export async function openWorld(dataDir: string): Promise<World> {
  const store = createStore(readConfig({ GATE_DATA_DIR: dataDir }), logger);
  await store.ready();
  // What is asked here is what is counted, not what survives a power cut; the disk would be most of the time.
  await store.writer.command(
    'ALTER TABLE decisions MODIFY SETTING fsync_after_insert = 0, fsync_part_directory = 0',
  );
  let parts = makeParts(store, 'sole');
  const end = async () => {
    await parts.commit.drain();
    await parts.identities.close();
    await parts.reads.days.decisions.settled();
  };
  return {
    store,
    get reads() {
      return parts.reads;
    },
    get commit() {
      return parts.commit;
    },
    restart: async (writers) => {
      await end();
      parts = makeParts(store, writers);
    },
    close: async () => {
      await end();
      await store.close();
    },
  };
}

function makeParts(store: Store, writers: Writers) {
  const identities = new IdentityIndex({
    stream: 'decisions',
    connection: store.lookups,
    logger,
    now: Date.now,
  });
  const commit = new GroupCommit({
    stream: 'decisions',
    columns: DECISION_COLUMNS,
    connection: store.writer,
    identities,
    ready: store.ready,
    batchRowsMax: 5000,
    queueRowsMax: 50_000,
    queueBytesMax: 100_000_000,
    onFlush: () => undefined,
    onQueue: () => undefined,
  });
  const runRead: AuditReads['runRead'] = (sql, params, signal) => store.reads.query(sql, params, signal);
  const reads = createReads({
    runRead,
    runReadBytes: () => Promise.reject(new Error('no export here')),
    writers,
    now: Date.now,
  });
  return { identities, commit, reads };
}

/** The stored row of a record, received so long after it occurred. */
export function entryOf(projectId: string, record: ModelRecord, receivedAtMs: number): Entry {
  const texts = { hint: '', occurred_at: '' };
  const event = { ...record, ...texts, violations: [] };
  const server = { project_id: projectId, agent_version_id: '', receivedAtMs };
  return entryFrom(event, server, DECISION_ROW);
}

/** Puts rows into the store past the service, as another writer does that knows nothing of this one. */
export function insertRows({ store }: World, entries: Entry[]): Promise<void> {
  const lines = entries.map(({ line }) => line);
  return store.writer.insert({ table: 'decisions', columns: DECISION_COLUMNS, lines, token: '' });
}

export type Asked = { projectId: string; window: ReadWindow; filters: DecisionFilters };
const signal = new AbortController().signal;

export async function askSummary({ reads }: World, asked: Asked) {
  const { totals, by_agent, by_role, by_tool } = await readSummary(reads, { ...asked, signal });
  return { totals, by_agent, by_role, by_tool };
}

export async function askBuckets({ reads }: World, asked: Asked) {
  return (await readTimeseries(reads, { ...asked, signal })).buckets;
}

type Broken = { by: Dimension; limit: number };

export async function askBreakdown({ reads }: World, asked: Asked, broken: Broken) {
  const { items, others } = await readBreakdown(reads, { ...asked, signal }, broken);
  return { items, others };
}

type Single = { projectId: string; eventId: string; nowMs: number };

/** What a record tells; undefined when it is not found. */
export async function askOne({ reads }: World, wanted: Single): Promise<string[] | undefined> {
  const row = await findDecision(reads, { ...wanted, signal });
  return row && [row.event_id, row.agent_name, row.tool_name, row.outcome, row.role, row.user_id, row.reason];
}

type Page = { total: number; next_cursor: string | null; items: { event_id: string }[] };

/** The total, and all event_ids page by page: by the cursor, or by the offset. */
export async function askIds({ reads }: World, asked: Asked & { limit: number; by: 'cursor' | 'offset' }) {
  const { limit, by, ...scope } = asked;
  const ids: string[] = [];
  let cursor = undefined;
  for (;;) {
    const page = { limit, offset: by === 'offset' ? ids.length : 0, cursor };
    const text = await readDecisions(reads, { ...scope, signal }, page);
    const { total, next_cursor, items } = JSON.parse(text) as Page;
    ids.push(...items.map(({ event_id }) => event_id));
    if (next_cursor === null) return { total, ids };
    if (by === 'cursor') cursor = parseCursor(next_cursor);
  }
}
