import { ApiError } from '../../api/api-error.ts';
import type { DecisionRecord, DecisionsPage } from '../../api/types.ts';

/** The first page is small, to be there soon; who scrolls gets more at a time, up to the API's bound. */
const FIRST_PAGE_ROWS = 100;
const PAGE_ROWS = 500;
/** Rows beyond this many keep no arguments, hint or violations: the drawer fetches their page again. */
const FULL_ROWS_MAX = 5000;
/** More is no list to look through; the export has no such bound. */
export const ROWS_MAX = 200_000;
/** New rows are caught up with by that many pages; beyond, the list starts anew. */
const CATCH_UP_PAGES = 5;
/** A shared link's record is looked for in that many pages. */
const FIND_PAGES = 10;

/** A row of the list, and the cursor of the page that it came in. */
export type FeedRow = DecisionRecord & { pageCursor: string | undefined; isWhole: boolean };
type FetchPage = (cursor: string | undefined, limit: number) => Promise<DecisionsPage>;

export type FeedState = {
  rows: FeedRow[];
  total: number | undefined;
  isLoading: boolean;
  isAtEnd: boolean;
  error: ApiError | undefined;
};

/** The records of one set of filters, newest first: grows at its end by cursor, and at its head while it is live. */
export class DecisionFeed {
  readonly #fetchPage: FetchPage;
  readonly #onChange: (state: FeedState) => void;
  readonly #ids = new Set<string>();
  #state: FeedState = { rows: [], total: undefined, isLoading: false, isAtEnd: false, error: undefined };
  #nextCursor: string | undefined;
  #isCatchingUp = false;
  #isClosed = false;

  constructor(fetchPage: FetchPage, onChange: (state: FeedState) => void) {
    this.#fetchPage = fetchPage;
    this.#onChange = onChange;
  }

  get state(): FeedState {
    return this.#state;
  }

  close(): void {
    this.#isClosed = true;
  }

  /** Fetches the next page, unless one is on its way or there is none. */
  async loadMore(): Promise<void> {
    const { isLoading, isAtEnd, rows } = this.#state;
    if (isLoading || isAtEnd) return;
    this.#set({ isLoading: true, error: undefined });
    const cursor = this.#nextCursor;
    try {
      const page = await this.#fetchPage(cursor, cursor === undefined ? FIRST_PAGE_ROWS : PAGE_ROWS);
      if (cursor !== this.#nextCursor) {
        // The list was started anew meanwhile: this page is not the one that comes next any more.
        this.#set({ isLoading: false });
        return;
      }
      this.#nextCursor = page.next_cursor ?? undefined;
      const fresh = this.#takeIn(this.#newOf(page, cursor));
      const all = [...this.#state.rows, ...fresh];
      const isAtEnd = this.#nextCursor === undefined || all.length >= ROWS_MAX;
      // The first page's count stays until the live mode brings a newer one: later ones may count by other clocks.
      const total = rows.length === 0 ? page.total : this.#state.total;
      this.#set({ rows: slimmed(all, rows.length), total, isAtEnd, isLoading: false });
    } catch (error) {
      this.#set({ isLoading: false, error: asApiError(error) });
    }
  }

  /** Brings the head up to date; tells how many rows are new. */
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
    const fresh: FeedRow[] = [];
    let cursor: string | undefined;
    let total: number | undefined;
    for (let pages = 0; pages < CATCH_UP_PAGES; pages += 1) {
      const page = await this.#fetchPage(cursor, FIRST_PAGE_ROWS);
      total ??= page.total;
      const news = this.#newOf(page, cursor);
      fresh.push(...news);
      cursor = page.next_cursor ?? undefined;
      const meetsKnown = news.length < page.items.length || cursor === undefined;
      if (meetsKnown) {
        if (fresh.length === 0 && total === this.#state.total && this.#state.error === undefined) return 0;
        const taken = this.#takeIn(fresh);
        const rows = taken.length === 0 ? this.#state.rows : merged(taken, this.#state.rows);
        this.#set({ rows, total, error: undefined });
        return taken.length;
      }
    }
    // So much has happened that there would be a gap: start anew with what was just read.
    this.#nextCursor = cursor;
    this.#ids.clear();
    this.#set({ rows: this.#takeIn(fresh), total, isAtEnd: cursor === undefined, error: undefined });
    return fresh.length;
  }

  /** The whole record of a row, also of one that is not in the list: its page is fetched again. */
  async findRecord(eventId: string, pageCursor: string | undefined): Promise<FeedRow | undefined> {
    const known = this.#state.rows.find(({ event_id }) => event_id === eventId);
    if (known?.isWhole === true) return known;
    let cursor = known?.pageCursor ?? pageCursor;
    for (let pages = 0; pages < FIND_PAGES; pages += 1) {
      const page = await this.#fetchPage(cursor, PAGE_ROWS);
      const found = page.items.find(({ event_id }) => event_id === eventId);
      if (found !== undefined) return { ...found, pageCursor: cursor, isWhole: true };
      cursor = page.next_cursor ?? undefined;
      if (cursor === undefined) return undefined;
    }
    return undefined;
  }

  /** The rows of a page that are not in the list yet. */
  #newOf(page: DecisionsPage, pageCursor: string | undefined): FeedRow[] {
    return page.items
      .filter(({ event_id }) => !this.#ids.has(event_id))
      .map((item) => ({ ...item, pageCursor, isWhole: true }));
  }

  /** Counts rows as known, at the moment they go into the list: what a failed call has read is to be found new again. */
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

/** Two lists that are each newest first, as one; what arrived late takes its place by time. */
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
  // No spread: an argument list has a bound, and this list may be longer.
  return rows.concat(known.slice(at));
}

function isNewer(a: DecisionRecord, b: DecisionRecord): boolean {
  return a.occurred_at > b.occurred_at || (a.occurred_at === b.occurred_at && a.event_id > b.event_id);
}

/** Lets go of what is heavy in the rows from `from` on, once there are many. */
function slimmed(rows: FeedRow[], from: number): FeedRow[] {
  for (let index = Math.max(from, FULL_ROWS_MAX); index < rows.length; index += 1) {
    const row = rows[index];
    if (row?.isWhole === true) {
      rows[index] = { ...row, arguments: null, hint: null, violations: [], isWhole: false };
    }
  }
  return rows;
}

function asApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  return new ApiError({ status: 0, code: 'unexpected', detail: String(error) });
}
