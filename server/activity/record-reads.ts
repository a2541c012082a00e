import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { Actor } from '../access/access.ts';
import type { KeyedMutex } from '../keyed-mutex.ts';
import { EXPORT_ENTRIES_MS_MIN, EXPORT_ENTRIES_WAITING_MAX, READ_ENTRIES_KNOWN_MAX } from '../limits.ts';
import type { BoundedStore } from '../store/bounded-store.ts';
import { claim } from '../store/claim.ts';
import { sql } from '../store/sql.ts';
import { StoreError } from '../store/store-error.ts';
import { clickhouseTime } from '../store/time.ts';
import { type ActivityEntry, activityRow } from './activity.ts';
import { HOUR_MS } from '../durations.ts';

/** The kinds of reads of a project's records. */
export type ReadKind =
  | 'summary'
  | 'timeseries'
  | 'breakdown'
  | 'llm_usage'
  | 'llm_invocations'
  | 'decisions'
  | 'completeness'
  | 'gaps'
  | 'replay';

type Read = { projectId: string; actor: Actor; address: string };

/** Records who read and exported the records of a project. Both resolve once the entry is durable, before the answer is sent. */
export type RecordReads = {
  /** With GATE_READ_AUTH=required, the first read of each kind by each actor in an hour (UTC) leaves an entry. */
  read(kind: ReadKind, read: Read): Promise<void>;
  /** Every export of an existing project leaves an entry. */
  exported(detail: Record<string, unknown>, read: Read): Promise<void>;
};

type Deps = { store: BoundedStore; mutex: KeyedMutex; readAuth: 'open' | 'required'; now: () => number };

export function createRecordReads(deps: Deps): RecordReads {
  const { store, readAuth, now } = deps;
  const known = new LRUCache<string, Promise<unknown>>({ max: READ_ENTRIES_KNOWN_MAX });
  const write = createWriteTogether(deps);
  return {
    read: async (kind, { projectId, actor, address }) => {
      if (readAuth === 'open') return;
      const by = { project_id: projectId, actor, address };
      const entry = { event: 'records_read', ...by, detail: { kind } } as const;
      const hour = Math.floor(now() / HOUR_MS);
      const key = [projectId, actor.account_id, actor.key_id, kind, hour].join(' ');
      const before = known.get(key);
      const recorded = before ?? recordOnce(entry, { ...deps, key, hour });
      if (before === undefined) known.set(key, recorded);
      try {
        await recorded;
      } catch (error) {
        // The next read tries again.
        if (known.peek(key) === recorded) known.delete(key);
        throw error;
      }
    },
    exported: async (detail, { projectId, actor, address }) => {
      // Nobody could ever see an entry of a project that does not exist.
      const found = await store.query(sql('project_by_id'), { project_id: projectId });
      if (found.length > 0)
        await write({ event: 'records_exported', project_id: projectId, actor, address, detail });
    },
  };
}

/** Recorded once across all processes and restarts. */
async function recordOnce(
  entry: ActivityEntry,
  { store, mutex, now, key, hour }: Deps & { key: string; hour: number },
): Promise<void> {
  const { project_id, account_id, key_id, detail } = activityRow(entry, now());
  const since = clickhouseTime(hour * HOUR_MS);
  const until = clickhouseTime((hour + 1) * HOUR_MS);
  const params = { project_id, account_id, key_id, detail, since, until };
  await claim(mutex, `records_read:${key}`, {
    find: async () => (await store.query(sql('activity_read'), params))[0],
    write: (token) => store.append({ table: 'activity', values: activityRow(entry, now()), token }),
  });
}

/**
 * Anyone may export open records, so a flood of exports must not cause a flood of inserts: entries that arrive during an insert share the
 * next one.
 */
function createWriteTogether({ store, now }: Deps) {
  let waiting: Record<string, unknown>[] = [];
  let next = Promise.resolve();
  /** The earliest time of the next insert. Not a queue with an interval, which would stall if the clock were set back. */
  let free: Promise<unknown> = next;
  return (entry: ActivityEntry): Promise<void> => {
    if (waiting.length >= EXPORT_ENTRIES_WAITING_MAX)
      throw new StoreError('overloaded', 'Too many exports. Try again.');
    waiting.push(activityRow(entry, now()));
    if (waiting.length > 1) return next;
    const pause = free.then(() => sleep(EXPORT_ENTRIES_MS_MIN, undefined, { ref: false }));
    next = free.then(() => {
      const values = waiting;
      waiting = [];
      return store.append({ table: 'activity', values });
    });
    free = Promise.allSettled([next, pause]);
    return next;
  };
}
