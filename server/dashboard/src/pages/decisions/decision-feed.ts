import { type ApiError, asApiError } from '../../api/api-error.ts';
import type { DecisionRecord, DecisionsPage } from '../../api/types.ts';

/** The first page is small so that it arrives soon. Later pages are as large as the API allows. */
const FIRST_PAGE_ROWS = 100;
const PAGE_ROWS = 500;
/** Rows beyond this number drop arguments, hint and violations. The drawer fetches such a record again. */
const FULL_ROWS_MAX = 5000;
/** The list ends here. The export has no such limit. */
export const ROWS_MAX = 200_000;
/** If the pages up to here do not close the gap, the list starts over. */
const CATCH_UP_PAGES = 5;

/** A record, or, far down the list, a record without its large fields. */
export type FeedRow = DecisionRecord & { isWhole: boolean };
type FetchPage = (cursor: string | undefined, limit: number) => Promise<DecisionsPage>;
/** The number of matching records that are later than one time, up to and including another. */
type CountBetween = (after: string, until: string) => Promise<number>;

export type FeedState = {
  rows: FeedRow[];
  total: number | undefined;
  isLoading: boolean;
  isAtEnd: boolean;
  error: ApiError | undefined;
};

/** The records that match the filters, newest first. Paging adds to the end, live mode to the start. */
export class DecisionFeed {
  readonly #fetchPage: FetchPage;
  readonly #countBetween: CountBetween;
  readonly #onChange: (state: FeedState) => void;
  readonly #ids = new Set<string>();
  #state: FeedState = { rows: [], total: undefined, isLoading: false, isAtEnd: false, error: undefined };
  #nextCursor: string | undefined;
  /** Where the search for rows that arrived late continues. */
  #searchCursor: string | undefined;
  #isCatchingUp = false;
  #isClosed = false;

  constructor(fetchPage: FetchPage, countBetween: CountBetween, onChange: (state: FeedState) => void) {
    this.#fetchPage = fetchPage;
    this.#countBetween = countBetween;
    this.#onChange = onChange;
  }

  get state(): FeedState {
    return this.#state;
  }

  close(): void {
    this.#isClosed = true;
  }

  /** Fetches the next page, if there is one and none is being fetched. */
  async loadMore(): Promise<void> {
    const { isLoading, isAtEnd, rows } = this.#state;
    if (isLoading || isAtEnd) return;
    this.#set({ isLoading: true, error: undefined });
    const cursor = this.#nextCursor;
    try {
      const page = await this.#pageAt(cursor);
      if (cursor !== this.#nextCursor) {
        // The list has started over in the meantime, so this page no longer follows.
        this.#set({ isLoading: false });
        return;
      }
      this.#nextCursor = page.next_cursor ?? undefined;
      const fresh = this.#takeIn(rowsOf(page));
      const all = [...this.#state.rows, ...fresh];
      const isAtEnd = this.#nextCursor === undefined || all.length >= ROWS_MAX;
      // Keep the count of the first page until live mode gets a newer one.
      const total = rows.length === 0 ? page.total : this.#state.total;
      this.#set({ rows: slimmed(all, rows.length), total, isAtEnd, isLoading: false });
    } catch (error) {
      this.#set({ isLoading: false, error: asApiError(error) });
    }
  }

  /** Adds new rows, including late ones, and drops those that left the period. Resolves with the number of new rows. */
  async catchUp(): Promise<number> {
    if (this.#isCatchingUp || this.#state.isLoading) return 0;
    this.#isCatchingUp = true;
    try {
      return await this.#catchUp();
    } catch (error) {
      this.#set({ error: asApiError(error) });
      return 0;
    } finally {
      this.#isCatchingUp = false;
    }
  }

  async #catchUp(): Promise<number> {
    const read: FeedRow[] = [];
    let fresh: FeedRow[] = [];
    let cursor: string | undefined;
    let total: number | undefined;
    for (let pages = 0; pages < CATCH_UP_PAGES; pages += 1) {
      const page = await this.#pageAt(cursor);
      ({ total } = page);
      read.push(...rowsOf(page));
      cursor = page.next_cursor ?? undefined;
      fresh = this.#unknown(read);
      const isSame = fresh.length === 0 && total === this.#state.total && this.#state.error === undefined;
      if (isSame && this.#searchCursor === undefined) return 0;
      if (cursor === undefined) break;
      if (fresh.length < read.length) {
        this.#merge(fresh, total);
        return fresh.length + (await this.#searchLate(total));
      }
    }
    // These are all rows, or too many to close the gap: start over with them.
    this.#nextCursor = cursor;
    this.#searchCursor = undefined;
    this.#ids.clear();
    this.#set({ rows: this.#takeIn(read), total, isAtEnd: cursor === undefined, error: undefined });
    return fresh.length;
  }

  /** Adds rows that arrived late, below the newest ones. The next poll continues where the pages of this one end. */
  async #searchLate(total: number): Promise<number> {
    const { rows, isAtEnd } = this.#state;
    const [after, until] = [rows.at(-1)?.occurred_at ?? '', rows[0]?.occurred_at ?? ''];
    const hasAll = isAtEnd && rows.length < ROWS_MAX;
    const isInside = ({ occurred_at }: FeedRow) => occurred_at <= until && (hasAll || occurred_at > after);
    const count = hasAll ? total : after < until ? await this.#countBetween(after, until) : 0;
    let missing = count - rows.filter(isInside).length;
    let found = 0;
    let cursor: string | undefined;
    for (let pages = 0; missing > 0 && pages < CATCH_UP_PAGES; pages += 1) {
      // The newest page is read again first: the count may include rows that were recorded after it was read.
      const page = await this.#pageAt(cursor);
      const late = this.#unknown(rowsOf(page)).filter(isInside);
      this.#merge(late, page.total);
      found += late.length;
      missing -= late.length;
      cursor = (pages === 0 ? this.#searchCursor : undefined) ?? page.next_cursor ?? undefined;
      if (!hasAll && (page.items.at(-1)?.occurred_at ?? '') <= after) cursor = undefined;
      if (cursor === undefined) break;
    }
    this.#searchCursor = missing > 0 ? cursor : undefined;
    return found;
  }

  /** The list has no gap above its last row, so rows beyond the total have left the period. */
  #merge(fresh: FeedRow[], total: number): void {
    const rows = merged(this.#takeIn(fresh), this.#state.rows);
    for (const { event_id } of rows.splice(Math.min(total, ROWS_MAX))) this.#ids.delete(event_id);
    const isAtEnd = this.#state.isAtEnd || rows.length === ROWS_MAX;
    this.#set({ rows: slimmed(rows, 0), total, isAtEnd, error: undefined });
  }

  /** A record of the list and its neighbours, if they are loaded. */
  near(eventId: string): { isListed?: true; record?: DecisionRecord; newer?: string; older?: string } {
    const { rows } = this.#state;
    const index = rows.findIndex(({ event_id }) => event_id === eventId);
    const row = rows[index];
    if (row === undefined) return {};
    const { isWhole, ...record } = row;
    return {
      isListed: true,
      ...(isWhole ? { record } : {}),
      ...(index === 0 ? {} : { newer: rows[index - 1]?.event_id ?? '' }),
      ...(index === rows.length - 1 ? {} : { older: rows[index + 1]?.event_id ?? '' }),
    };
  }

  #pageAt(cursor: string | undefined): Promise<DecisionsPage> {
    return this.#fetchPage(cursor, cursor === undefined ? FIRST_PAGE_ROWS : PAGE_ROWS);
  }

  #unknown(rows: FeedRow[]): FeedRow[] {
    return rows.filter(({ event_id }) => !this.#ids.has(event_id));
  }

  /** Marks rows as known only when they enter the list, so that a failed call can read them again. */
  #takeIn(rows: FeedRow[]): FeedRow[] {
    const taken: FeedRow[] = [];
    for (const row of rows) {
      if (this.#ids.has(row.event_id)) continue;
      this.#ids.add(row.event_id);
      taken.push(row);
    }
    return taken;
  }

  #set(changes: Partial<FeedState>): void {
    if (this.#isClosed) return;
    this.#state = { ...this.#state, ...changes };
    this.#onChange(this.#state);
  }
}

function rowsOf({ items }: DecisionsPage): FeedRow[] {
  return items.map((item) => ({ ...item, isWhole: true }));
}

/** Merges two lists that are sorted newest first. */
function merged(fresh: FeedRow[], known: FeedRow[]): FeedRow[] {
  const rows: FeedRow[] = [];
  let at = 0;
  for (const row of fresh) {
    for (let next = known[at]; next !== undefined && isNewer(next, row); next = known[at]) {
      rows.push(next);
      at += 1;
    }
    rows.push(row);
  }
  // No spread: the list may exceed the limit of arguments.
  return rows.concat(known.slice(at));
}

/** Whether it comes before the other in the list. */
export function isNewer(a: DecisionRecord, b: DecisionRecord): boolean {
  return a.occurred_at > b.occurred_at || (a.occurred_at === b.occurred_at && a.event_id > b.event_id);
}

/** Drops the large fields of rows from `from` on once there are many. */
function slimmed(rows: FeedRow[], from: number): FeedRow[] {
  for (let index = Math.max(from, FULL_ROWS_MAX); index < rows.length; index += 1) {
    const row = rows[index];
    if (row?.isWhole === true) {
      rows[index] = { ...row, arguments: null, hint: null, violations: [], isWhole: false };
    }
  }
  return rows;
}
