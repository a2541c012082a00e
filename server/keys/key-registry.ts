import { REVOCATION_AGE_MS_MAX, STATEMENT_WAIT_MS_MAX } from '../limits.ts';
import type { Connection } from '../store/connection.ts';
import { withTimeout } from '../store/with-timeout.ts';
import { sql } from '../store/sql.ts';
import { clickhouseTime, rfc3339FromClickhouse } from '../store/time.ts';

/** What is stored of a bearer key; times as RFC 3339. */
export type KeyRecord = {
  key_id: string;
  project_id: string;
  name: string;
  scope: string;
  created_at: string;
  expires_at: string | null;
  revoked_at: string | null;
};

type KeyRow = KeyRecord & { updated_at: string };
type KeyRegistryOptions = {
  connection: Connection;
  ready: () => Promise<void>;
  /** True when no other process issues or revokes keys in this store. */
  isSoleWriter: boolean;
  now: () => number;
};

const POLL_MS = 1500;
/** Rows are read again from a little before the newest seen: other processes' clocks may be behind. */
const OVERLAP_MS = 30_000;
const COLUMNS = [
  'key_id',
  'project_id',
  'name',
  'scope',
  'created_at',
  'expires_at',
  'revoked_at',
  'updated_at',
  'version',
] as const;

/**
 * Every key that was issued here, in memory. With other writers on the store it is read again every 1.5 s, so that a
 * revocation is known everywhere within 5 s; when it cannot be read for longer, `find` rejects with store_unavailable.
 */
export class KeyRegistry {
  readonly #options: KeyRegistryOptions;
  readonly #keys = new Map<string, KeyRecord>();
  #newestMs = 0;
  #readAtMs = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: KeyRegistryOptions) {
    this.#options = options;
  }

  /** The key as of at most REVOCATION_AGE_MS_MAX ago, if that can be told without asking the store. */
  peek(keyId: string): KeyRecord | undefined {
    return this.#isFresh() ? this.#keys.get(keyId) : undefined;
  }

  /** The key as it was last read or written, however long ago. */
  lastKnown(keyId: string): KeyRecord | undefined {
    return this.#keys.get(keyId);
  }

  /** The key, or undefined when it was never issued here. */
  async find(keyId: string): Promise<KeyRecord | undefined> {
    if (!this.#isFresh()) await this.#read();
    const key = this.#keys.get(keyId);
    if (key !== undefined || this.#options.isSoleWriter) return key;
    // Issued by another process a moment ago, perhaps.
    await this.#read();
    return this.#keys.get(keyId);
  }

  async list(projectId: string): Promise<KeyRecord[]> {
    await this.#read();
    return [...this.#keys.values()].filter((key) => key.project_id === projectId);
  }

  /** Resolves when the key is durable, as issued or as revoked. */
  async write(key: KeyRecord): Promise<void> {
    const nowMs = this.#options.now();
    const time = (text: string | null) => (text === null ? null : clickhouseTime(Date.parse(text)));
    const { key_id, project_id, name, scope } = key;
    const times = [time(key.created_at), time(key.expires_at), time(key.revoked_at)];
    // A revocation beats the issue whatever the clocks of the two processes say.
    const version = key.revoked_at === null ? 0 : nowMs;
    const line = JSON.stringify([key_id, project_id, name, scope, ...times, clickhouseTime(nowMs), version]);
    await this.#options.ready();
    await this.#options.connection.insert({ table: 'api_keys', columns: COLUMNS, lines: [line], token: '' });
    this.#keys.set(key_id, key);
  }

  /** Keeps the registry fresh until `close`; only with other writers on the store. */
  startPolling(): void {
    if (this.#options.isSoleWriter) return;
    this.#timer = setInterval(() => void this.#read().catch(() => undefined), POLL_MS).unref();
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #isFresh(): boolean {
    if (this.#options.isSoleWriter) return this.#readAtMs > 0;
    return this.#options.now() - this.#readAtMs <= REVOCATION_AGE_MS_MAX;
  }

  #read(): Promise<void> {
    this.#reading ??= this.#readChanges().finally(() => (this.#reading = undefined));
    return this.#reading;
  }

  async #readChanges(): Promise<void> {
    const startMs = this.#options.now();
    await this.#options.ready();
    const since = clickhouseTime(Math.max(0, this.#newestMs - OVERLAP_MS));
    const read = this.#options.connection.query<KeyRow>(sql('keys_changed'), { since });
    const rows = await withTimeout(read, STATEMENT_WAIT_MS_MAX);
    for (const { updated_at, ...row } of rows) {
      // What was read may be older than a revocation by this process in the meantime.
      if (row.revoked_at === null && (this.#keys.get(row.key_id)?.revoked_at ?? null) !== null) continue;
      const time = (text: string | null) => (text === null ? null : rfc3339FromClickhouse(text));
      const created_at = rfc3339FromClickhouse(row.created_at);
      this.#keys.set(row.key_id, {
        ...row,
        created_at,
        expires_at: time(row.expires_at),
        revoked_at: time(row.revoked_at),
      });
      this.#newestMs = Math.max(this.#newestMs, Date.parse(rfc3339FromClickhouse(updated_at)));
    }
    this.#readAtMs = startMs;
  }
}
