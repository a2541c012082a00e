import { REVOCATION_AGE_MS_MAX, STATEMENT_WAIT_MS_MAX } from '../limits.ts';
import { append } from '../store/bounded-store.ts';
import type { Connection } from '../store/connection.ts';
import { withTimeout } from '../store/with-timeout.ts';
import { sql } from '../store/sql.ts';
import { clickhouseTime, msFromClickhouse, rfc3339FromClickhouse } from '../store/time.ts';

/** The stored record of a bearer key. Times are RFC 3339. */
export type KeyRecord = {
  key_id: string;
  project_id: string;
  name: string;
  scope: string;
  /** The agents that it is restricted to; none: all agents. */
  agents: string[];
  /** The account that issued it; '' for the command line. */
  created_by: string;
  created_at: string;
  expires_at: string | null;
  revoked_at: string | null;
};

/** The parts of a key that requests need. The rest stays in the store, because its size is up to the issuer of the key. */
export type KnownKey = { project_id: string; isRevoked: boolean };

type ChangedRow = Pick<KeyRecord, 'key_id' | 'project_id' | 'revoked_at'> & { updated_at: string };
/** A read of all changes since a time. `startedAtMs`: by performance.now(). `after`: the last key of the pages read so far. */
type Pass = { startMs: number; startedAtMs: number; since: string; after: string };
type KeyRegistryOptions = {
  connection: Connection;
  ready: () => Promise<void>;
  /** No other process issues or revokes keys in this store. */
  isSoleWriter: boolean;
  now: () => number;
};

const POLL_MS = 1500;
/** Each read overlaps the one before, because other processes' clocks may be behind. */
const OVERLAP_MS = 30_000;
/** Few enough for a slow store. */
const PAGE_ROWS = 5000;

/**
 * All keys of the store, in memory. With other writers on the store they are read every 1.5 s, so that a revocation takes effect everywhere
 * within 5 s. If they cannot be read for longer, `find` rejects with store_unavailable.
 */
export class KeyRegistry {
  readonly #options: KeyRegistryOptions;
  readonly #keys = new Map<string, KnownKey>();
  #newestMs = 0;
  #readAtMs = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | undefined;
  /** Kept if a page fails: the next read continues from there. */
  #pass: Pass | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: KeyRegistryOptions) {
    this.#options = options;
  }

  /** The key, if memory is recent enough to include revocations. */
  peek(keyId: string): KnownKey | undefined {
    return this.#isFresh() ? this.#keys.get(keyId) : undefined;
  }

  /** The key as last read or written, however old. */
  lastKnown(keyId: string): KnownKey | undefined {
    return this.#keys.get(keyId);
  }

  /** The key, or undefined if this store never had it. */
  async find(keyId: string): Promise<KnownKey | undefined> {
    if (!this.#isFresh()) await this.#read();
    const key = this.#keys.get(keyId);
    if (key !== undefined || this.#options.isSoleWriter) return key;
    // Another process may have just issued it.
    await this.#read();
    return this.#keys.get(keyId);
  }

  async list(projectId: string): Promise<KeyRecord[]> {
    const { connection, ready } = this.#options;
    await ready();
    const read = connection.query<KeyRecord>(sql('keys_of_project'), { project_id: projectId });
    const rows = await withTimeout(read, STATEMENT_WAIT_MS_MAX);
    const time = (text: string | null) => (text === null ? null : rfc3339FromClickhouse(text));
    return rows.map((row) => ({
      ...row,
      created_at: rfc3339FromClickhouse(row.created_at),
      expires_at: time(row.expires_at),
      revoked_at: time(row.revoked_at),
    }));
  }

  /** Resolves when the keys are durable, as issued or as revoked. */
  async write(keys: KeyRecord | KeyRecord[]): Promise<void> {
    const { connection, ready, now } = this.#options;
    const nowMs = now();
    const time = (text: string | null) => (text === null ? null : clickhouseTime(Date.parse(text)));
    const rowOf = (key: KeyRecord) => ({
      ...key,
      created_at: time(key.created_at),
      expires_at: time(key.expires_at),
      revoked_at: time(key.revoked_at),
      updated_at: clickhouseTime(nowMs),
      // A revocation replaces the issued row, even if the clocks of the two processes differ.
      version: key.revoked_at === null ? 0 : nowMs,
    });
    await ready();
    const all = [keys].flat();
    await append(connection, { table: 'api_keys', values: all.map(rowOf) });
    for (const key of all) this.#learn(key);
  }

  /** Keeps memory fresh until `close`. Does nothing without other writers on the store. */
  startPolling(): void {
    if (this.#options.isSoleWriter) return;
    this.#timer = setInterval(() => void this.#read().catch(() => undefined), POLL_MS).unref();
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #isFresh(): boolean {
    if (this.#options.isSoleWriter) return this.#readAtMs > 0;
    return performance.now() - this.#readAtMs <= REVOCATION_AGE_MS_MAX;
  }

  /** Reads what changed. If the read is too late for a caller, it continues for later ones. */
  #read(): Promise<void> {
    this.#reading ??= this.#readChanges().finally(() => (this.#reading = undefined));
    return withTimeout(this.#reading, STATEMENT_WAIT_MS_MAX);
  }

  async #readChanges(): Promise<void> {
    const { connection, ready, now } = this.#options;
    await ready();
    const since = clickhouseTime(Math.max(0, this.#newestMs - OVERLAP_MS));
    const pass = (this.#pass ??= { startMs: now(), startedAtMs: performance.now(), since, after: '' });
    let rows: ChangedRow[];
    do {
      const page = { since: pass.since, after: pass.after, limit: PAGE_ROWS };
      rows = await connection.query<ChangedRow>(sql('keys_changed'), page);
      for (const row of rows) {
        this.#learn(row);
        this.#newestMs = Math.max(this.#newestMs, msFromClickhouse(row.updated_at));
      }
      pass.after = rows.at(-1)?.key_id ?? pass.after;
    } while (rows.length === PAGE_ROWS);
    this.#pass = undefined;
    // Keys of the previous pages may have changed since.
    this.#newestMs = Math.min(this.#newestMs, pass.startMs);
    this.#readAtMs = pass.startedAtMs;
    if (!this.#isFresh()) await this.#readChanges();
  }

  /** A key's issued row may arrive after its revoked one. */
  #learn({ key_id, project_id, revoked_at }: Pick<KeyRecord, 'key_id' | 'project_id' | 'revoked_at'>): void {
    const isRevoked = revoked_at !== null || this.#keys.get(key_id)?.isRevoked === true;
    this.#keys.set(key_id, { project_id, isRevoked });
  }
}
