import type { IncomingMessage } from 'node:http';
import { SignJWT } from 'jose';
import { base64From } from '../../client/proof/index.ts';
import type { RootKeys } from '../keys/root-keys.ts';
import { RECEIPTS_TOGETHER_MAX, WRITE_WAIT_MS_MAX } from '../limits.ts';
import { findDecisionLine } from '../records/find-decision.ts';
import type { BoundedStore } from '../store/bounded-store.ts';
import { sql } from '../store/sql.ts';
import { StoreError } from '../store/store-error.ts';
import { clickhouseTime } from '../store/time.ts';
import { withTimeout } from '../store/with-timeout.ts';

/** An event that is durable, or whose identity another record has. */
export type RecordedEvent = { project_id: string; event_id: string; occurredAtMs: number };

type Asked = RecordedEvent & { resolve: (entry: string) => void; reject: (error: unknown) => void };
type ReceiptsOptions = { store: BoundedStore; rootKeys: RootKeys; now: () => number };

/** Whether the caller requests receipts. */
export function wantsReceipt({ headers }: IncomingMessage): boolean {
  return headers['gate-want-receipt'] === '1';
}

/**
 * Signs the log entries of accepted records. The store builds the line of a record, so its entry is read back: simultaneous callers share a
 * statement.
 */
export class Receipts {
  readonly #options: ReceiptsOptions;
  #asked: Asked[] = [];
  #isReading = false;

  constructor(options: ReceiptsOptions) {
    this.#options = options;
  }

  /** The receipts of events, by position. `sinceMs` (performance.now): when the caller began to wait. Rejects with a StoreError. */
  async of(events: readonly RecordedEvent[], sinceMs: number): Promise<string[]> {
    const entries = events.map(
      (event) =>
        new Promise<string>((resolve, reject) => {
          this.#asked.push({ ...event, resolve, reject });
        }),
    );
    void this.#readAll();
    const leftMs = WRITE_WAIT_MS_MAX - (performance.now() - sinceMs);
    const all = await withTimeout(Promise.all(entries), Math.max(0, leftMs));
    return Promise.all(all.map((entry, place) => this.#sign(events[place] as RecordedEvent, entry)));
  }

  async #readAll(): Promise<void> {
    if (this.#isReading) return;
    this.#isReading = true;
    while (this.#asked.length > 0) {
      const asked = this.#asked.splice(0, RECEIPTS_TOGETHER_MAX);
      try {
        await this.#read(asked);
      } catch (error) {
        for (const { reject } of asked) reject(error);
      }
    }
    this.#isReading = false;
  }

  async #read(asked: Asked[]): Promise<void> {
    const { store, now } = this.#options;
    const params = {
      project_ids: asked.map(({ project_id }) => project_id),
      times: asked.map(({ occurredAtMs }) => clickhouseTime(occurredAtMs)),
      event_ids: asked.map(({ event_id }) => event_id),
    };
    const rows = await store.query<Record<'project_id' | 'event_id' | 'entry', string>>(
      sql('receipt_entries'),
      params,
    );
    const entries = new Map(rows.map((row) => [`${row.event_id} ${row.project_id}`, row.entry]));
    for (const { project_id, event_id, resolve } of asked) {
      // An earlier record with this id may have occurred at another time.
      const entry =
        entries.get(`${event_id} ${project_id}`) ?? (await this.#find({ project_id, event_id }, now()));
      resolve(entry);
    }
  }

  async #find({ project_id, event_id }: Omit<RecordedEvent, 'occurredAtMs'>, nowMs: number): Promise<string> {
    const { store } = this.#options;
    const reads = { runRead: <Row>(text: string, params = {}) => store.query<Row>(text, params) };
    const { signal } = new AbortController();
    const found = await findDecisionLine(reads, { projectId: project_id, eventId: event_id, nowMs, signal });
    if (found !== undefined) return base64From(found.entry);
    throw new StoreError('store_unavailable', 'The store does not show the record yet. Send the event again');
  }

  #sign({ project_id, event_id }: RecordedEvent, entry: string): Promise<string> {
    const { rootKeys, now } = this.#options;
    const { kid, privateKey } = rootKeys.current;
    return new SignJWT({ entry: Buffer.from(entry, 'base64').toString('base64url') })
      .setProtectedHeader({ alg: 'EdDSA', typ: 'gate-receipt+jwt', kid })
      .setIssuer('gatehouse')
      .setSubject(project_id)
      .setJti(event_id)
      .setIssuedAt(Math.floor(now() / 1000))
      .sign(privateKey);
  }
}
