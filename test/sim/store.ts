import type { Connection, EncodedRows, QueryParams } from '../../server/store/connection.ts';
import { sql } from '../../server/store/sql.ts';
import { StoreError } from '../../server/store/store-error.ts';
import { Gatherer, type Insert } from './gatherer.ts';
import { Node } from './node.ts';
import type { StoreOptions } from './options.ts';
import { Records } from './records.ts';
import { spreadOver } from './spread.ts';
import { pass } from './virtual-time.ts';

type Options = StoreOptions & { eventsPerRow: number; random: () => number };
type Table = 'decisions' | 'event_identities';
type Gatherers = Map<Table, Gatherer>;
type Shard = { nodes: Node[]; gatherers: Gatherers };

/** Parsing a row from text costs the receiving node this share of writing it. */
const PARSING_SHARE = 0.3;
/** A replica fetches a part as it is. */
const FETCH_SHARE = 0.3;
/** As the service divides them. */
const IDS_PER_STATEMENT = 2000;
const BYTES_PER_EVENT = 350;
/** As the service sets it. */
const GATHERED_BYTES_MAX = 64 * 1024 * 1024;
/** A connection that breaks does so in this time, and in that of both waits of async_insert. */
const BROKEN_MS_MAX = 100;

/**
 * A ClickHouse server or cluster as the service sees it: nodes with queues for their cores, Distributed tables that send the rows of each
 * shard to its first healthy replica, async inserts on both levels, a quorum of the majority.
 */
export class SimulatedStore {
  readonly #options: Options;
  readonly #shards: Shard[];
  readonly #nodes: Node[];
  readonly #entries: Gatherers[];
  readonly records = new Records();
  /** When each part was written, and by which shard. */
  readonly parts: Record<Table, [number, number][]> = { decisions: [], event_identities: [] };
  gatheredBytesMax = 0;

  constructor(options: Options) {
    this.#options = options;
    const { shards, replicas, cores } = options;
    this.#shards = Array.from({ length: shards }, () => ({
      nodes: Array.from({ length: replicas }, () => new Node(cores)),
      gatherers: new Map(),
    }));
    this.#nodes = this.#shards.flatMap(({ nodes }) => nodes);
    this.#entries = this.#nodes.map(() => new Map());
  }

  connect(): Connection {
    return {
      command: async (text, params = {}) => {
        await this.#lookUp(params);
        if (text === sql('events_remove')) this.records.remove(params);
      },
      query: async <Row>(text: string, params: QueryParams = {}) => {
        await this.#lookUp(params);
        return this.records.query(text, params) as Row[];
      },
      queryBytes: () => Promise.resolve(Buffer.alloc(0)),
      insert: (rows) => this.#insert(rows),
      close: () => Promise.resolve(),
    };
  }

  /** Every shard looks for all identities: none knows which of them are its own. */
  async #lookUp(params: QueryParams): Promise<void> {
    const { lookUp, hopMs, eventsPerRow, random } = this.#options;
    const ids = ((params['event_ids'] ?? []) as string[]).length * eventsPerRow;
    const statements = Math.max(1, Math.ceil(ids / IDS_PER_STATEMENT));
    const ms = lookUp.queryMs + (ids / statements) * lookUp.idMs;
    await pass(2 * hopMs);
    const works = Array.from({ length: statements }, () =>
      Promise.all(
        this.#shards.map(({ nodes }) => (nodes[Math.floor(random() * nodes.length)] as Node).work(ms)),
      ),
    );
    await Promise.all(works);
  }

  async #insert({ table: name, lines, token }: EncodedRows): Promise<void> {
    const { hopMs, random, brokenShare, mergeMs, eventsPerRow } = this.#options;
    const broken = random();
    await pass(hopMs);
    if (broken < brokenShare / 2) throw hangUp();
    const table = name === 'decisions' ? 'decisions' : 'event_identities';
    // A line of event_identities is [stream, project, id, …].
    const idOf = (line: string) => String((JSON.parse(line) as unknown[])[2]);
    const rows = table === 'decisions' ? lines : lines.map(idOf);
    const entry = Math.floor(random() * this.#nodes.length);
    const isMerged = mergeMs > 0 && token === undefined;
    const spread = (insert: Insert) => this.#spread(table, { insert, entry, isMerged });
    const insert = { rows, events: rows.length * eventsPerRow };
    const gatherers = this.#entries[entry] as Gatherers;
    const written = isMerged ? this.#gather(gatherers, { table, write: spread }).add(insert) : spread(insert);
    if (broken >= brokenShare) return written.then(() => pass(hopMs));
    // The store continues with what it has.
    written.catch(() => undefined);
    await pass(random() * (2 * mergeMs + BROKEN_MS_MAX));
    throw hangUp();
  }

  #gather(
    gatherers: Gatherers,
    { table, write }: { table: Table; write: (insert: Insert) => Promise<void> },
  ): Gatherer {
    let gatherer = gatherers.get(table);
    if (gatherer === undefined) {
      const eventsMax = GATHERED_BYTES_MAX / BYTES_PER_EVENT;
      const counted = (insert: Insert) => {
        this.gatheredBytesMax = Math.max(this.gatheredBytesMax, insert.events * BYTES_PER_EVENT);
        return write(insert);
      };
      gatherer = new Gatherer({ waitMs: this.#options.mergeMs, eventsMax, write: counted });
      gatherers.set(table, gatherer);
    }
    return gatherer;
  }

  /** Like a Distributed table: the rows of each shard are sent to it in one insert. */
  async #spread(
    table: Table,
    { insert, entry, isMerged }: { insert: Insert; entry: number; isMerged: boolean },
  ): Promise<void> {
    const { cost, hopMs, eventsPerRow } = this.#options;
    await this.#nodes[entry]?.work(insert.events * cost.rowMs * PARSING_SHARE);
    if (this.#nodes.length === 1) return this.#writePart(table, 0, insert);
    await pass(hopMs);
    const shares = spreadOver(this.#shards.length, { rows: insert.rows, eventsPerRow });
    const jobs = Array.from(shares, ([shard, share]) => {
      const write = (all: Insert) => this.#writePart(table, shard, all);
      const { gatherers } = this.#shards[shard] as Shard;
      return isMerged ? this.#gather(gatherers, { table, write }).add(share) : write(share);
    });
    await Promise.all(jobs);
    await pass(hopMs);
  }

  /** On the first healthy replica, and then on others until a majority has it. */
  async #writePart(table: Table, shard: number, { rows, events }: Insert): Promise<void> {
    const { cost, away, hopMs, replicas } = this.#options;
    const nowMs = performance.now();
    const isAway = away !== undefined && nowMs >= away.fromMs && nowMs < away.toMs;
    const [first, ...others] = (this.#shards[shard] as Shard).nodes.slice(isAway ? 1 : 0);
    const othersNeeded = replicas >> 1;
    if (others.length < othersNeeded) throw new StoreError('store_unavailable', 'Too few replicas');
    this.parts[table].push([nowMs, shard]);
    const ms = cost.partMs + events * cost.rowMs;
    await first?.work(ms);
    this.records.add(table, rows);
    if (othersNeeded === 0) return;
    await pass(2 * hopMs);
    const fetches = others.map((node) => node.work(ms * FETCH_SHARE));
    await Promise.all(fetches.slice(0, othersNeeded));
  }
}

function hangUp(): StoreError {
  return new StoreError('store_unavailable', 'The connection broke');
}
