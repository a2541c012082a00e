import { DECISION_COLUMNS, DECISION_ROW } from '../../../server/ingest/decision-event.ts';
import { entryFrom } from '../../../server/ingest/event-row.ts';
import { LLM_COLUMNS, LLM_ROW } from '../../../server/ingest/llm-invocation.ts';
import { type Dimension, readBreakdown } from '../../../server/records/breakdown.ts';
import { readSummary, readTimeseries } from '../../../server/records/counts.ts';
import { type AuditReads, createReads, type Writers } from '../../../server/records/days.ts';
import { readDecisions } from '../../../server/records/decisions.ts';
import type { DecisionFilters } from '../../../server/records/filters.ts';
import { readLlmInvocations } from '../../../server/records/llm-invocations.ts';
import {
  type UsageDimension,
  readLlmUsage,
  readLlmUsageBreakdown,
  readLlmUsageTimeseries,
} from '../../../server/records/llm-usage.ts';
import { findDecision } from '../../../server/records/find-decision.ts';
import { type Cursor, parseCursor } from '../../../server/records/cursor.ts';
import type { PageRequest } from '../../../server/records/pages.ts';
import type { ReadWindow } from '../../../server/records/window.ts';
import { GroupCommit } from '../../../server/commit/group-commit.ts';
import type { Entry } from '../../../server/commit/write-queue.ts';
import type { Stream } from '../../../server/commit/identity.ts';
import { IdentityIndex } from '../../../server/commit/identity-index.ts';
import { readConfig } from '../../../server/config.ts';
import { createLogger } from '../../../server/logger.ts';
import { createStore, type Store } from '../../../server/store/store.ts';
import type { ModelRecord } from './model.ts';

/** The actions of a history on the store, and its reads. */
export type World = {
  store: Store;
  /** What the service keeps in memory between requests. */
  reads: AuditReads;
  /** Resolves when all of them are written: in batches and single events at once, as the caller divides them. */
  write: (batches: Entries[]) => Promise<void>;
  /** Forgets all of it, as a restart does. */
  restart: (writers: Writers) => Promise<void>;
  close: () => Promise<void>;
};

/** The rows of some records: their decisions and the corresponding model calls. */
export type Entries = Record<Stream, Entry[]>;

const COLUMNS: Record<Stream, readonly string[]> = {
  decisions: DECISION_COLUMNS,
  llm_invocations: LLM_COLUMNS,
};
export const TABLES = Object.keys(COLUMNS) as Stream[];

const logger = createLogger('silent');

/** The real store with the real write path and reads, in this process. */
export async function openWorld(dataDir: string): Promise<World> {
  const store = createStore(readConfig({ GATE_DATA_DIR: dataDir }), logger);
  await store.ready();
  // This tests counts, not durability, and the disk would take most of the time.
  for (const table of TABLES)
    await store.writer.command(
      `ALTER TABLE ${table} MODIFY SETTING fsync_after_insert = 0, fsync_part_directory = 0`,
    );
  let parts = makeParts(store, 'sole');
  const end = async () => {
    for (const { commit, identities } of Object.values(parts.streams)) {
      await commit.drain();
      await identities.close();
    }
    await settled(parts.reads);
  };
  return {
    store,
    get reads() {
      return parts.reads;
    },
    write: async (batches) => {
      await Promise.all(
        batches.flatMap((entries) =>
          TABLES.map((table) => {
            const { commit } = parts.streams[table];
            const [only, ...others] = entries[table];
            return only !== undefined && others.length === 0
              ? commit.write(only)
              : commit.writeAll(entries[table]);
          }),
        ),
      );
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

/** Resolves when no table is checked in the background. */
export async function settled({ days }: AuditReads): Promise<void> {
  await Promise.all([days.decisions.settled(), days.llmInvocations.settled()]);
}

function makeStream(store: Store, stream: Stream) {
  const identities = new IdentityIndex({ stream, connection: store.lookups, logger, now: Date.now });
  const commit = new GroupCommit({
    stream,
    columns: COLUMNS[stream],
    connection: stream === 'decisions' ? store.writer : store.usageWriter,
    identities,
    ready: store.ready,
    batchRowsMax: 5000,
    queueRowsMax: 50_000,
    queueBytesMax: 100_000_000,
    onFlush: () => undefined,
    onQueue: () => undefined,
  });
  return { identities, commit };
}

function makeParts(store: Store, writers: Writers) {
  const runRead: AuditReads['runRead'] = (sql, params, signal) => store.reads.query(sql, params, signal);
  const reads = createReads({
    runRead,
    runReadBytes: () => Promise.reject(new Error('no export here')),
    writers,
    now: Date.now,
    // Otherwise, few rows would be read directly, as those of a user or a session always are.
    fewRows: 0,
  });
  const streams = {
    decisions: makeStream(store, 'decisions'),
    llm_invocations: makeStream(store, 'llm_invocations'),
  };
  return { streams, reads };
}

/** The stored rows of records, received so long after they occurred. */
export function entriesOf(projectId: string, records: ModelRecord[], receivedAtMs: number): Entries {
  const texts = { hint: '', occurred_at: '', provider: '', operation: 'chat', finish_reason: '' };
  const server = { project_id: projectId, agent_version_id: '', receivedAtMs };
  const events = records.map((record) => ({ ...record, ...texts, violations: [], duration_ms: 0 }));
  return {
    decisions: events.map((event) => entryFrom(event, server, DECISION_ROW)),
    llm_invocations: events.map((event) => entryFrom(event, server, LLM_ROW)),
  };
}

/** Writes rows to the store without the service, like another writer that does not know of it. */
export async function insertRows({ store }: World, entries: Entries): Promise<void> {
  for (const table of TABLES) {
    const lines = entries[table].map(({ line }) => line);
    await store.writer.insert({ table, columns: COLUMNS[table], lines, token: '' });
  }
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

type BrokenUsage = { by: UsageDimension; limit: number };

/** As the answers say it. */
export async function askUsage({ reads }: World, asked: Asked, broken: BrokenUsage): Promise<unknown> {
  const { totals } = await readLlmUsage(reads, { ...asked, signal });
  const { buckets } = await readLlmUsageTimeseries(reads, { ...asked, signal });
  const { items, others } = await readLlmUsageBreakdown(reads, { ...asked, signal }, broken);
  return JSON.parse(JSON.stringify({ totals, buckets, items, others }));
}

type Single = { projectId: string; eventId: string; nowMs: number };

/** The content of a record; undefined if it is not found. */
export async function askOne({ reads }: World, wanted: Single): Promise<string[] | undefined> {
  const row = await findDecision(reads, { ...wanted, signal });
  return row && [row.event_id, row.agent_name, row.tool_name, row.outcome, row.role, row.user_id, row.reason];
}

type Page<Item> = { total: number; next_cursor: string | null; items: Item[] };
type Paging = { limit: number; by: 'cursor' | 'offset' };

/** The total, and all event_ids page by page. */
export async function askIds({ reads }: World, { limit, by, ...asked }: Asked & Paging) {
  const { total, items } = await walk<{ event_id: string }>({ limit, by }, async (page) =>
    JSON.parse(await readDecisions(reads, { ...asked, signal }, page)),
  );
  return { total, ids: items.map(({ event_id }) => event_id) };
}

/** The total, and all model calls page by page. */
export async function askInvocations({ reads }: World, { limit, by, ...asked }: Asked & Paging) {
  const { total, items } = await walk({ limit, by }, (page) =>
    readLlmInvocations(reads, { ...asked, signal }, page),
  );
  return {
    total,
    items: items.map(({ event_id, role, user_id, input_tokens, cost_usd }) => ({
      event_id,
      role,
      user_id,
      input_tokens,
      cost_usd,
    })),
  };
}

/** All pages: by the cursor, or by the offset. */
async function walk<Item>({ limit, by }: Paging, ask: (page: PageRequest) => Promise<Page<Item>>) {
  const all: Item[] = [];
  let cursor: Cursor | undefined;
  for (;;) {
    const { total, next_cursor, items } = await ask({
      limit,
      offset: by === 'offset' ? all.length : 0,
      cursor,
    });
    all.push(...items);
    if (next_cursor === null) return { total, items: all };
    if (by === 'cursor') cursor = parseCursor(next_cursor);
  }
}
