import { keyOf } from '../../../../server/commit/identity.ts';
import type { LostRow } from '../../../../server/commit/remove-rows.ts';
import type { NewsRow, Piece, Proposal, Rival } from '../../../../server/log/log-tables.ts';
import type { RoundDeps } from '../../../../server/log/rounds.ts';
import type { Random } from '../../../support/random.ts';
import type { Schedule } from './schedule.ts';

type Mark = { key: string; writer: string };

/** Faults: a store that breaks one of its promises, or a sequencer that lacks one of its steps. */
export type Flaw =
  | 'no token'
  | 'late rounds count'
  | 'late rounds list'
  | 'look before head'
  | 'removal before commit'
  | 'nothing left out'
  | 'no marks'
  | 'rows without a mark unseen';

/** body: of rows with one identity and one body, a merge keeps the one received first. */
export type ModelRow = Rival & { body: string };

/** A round that the store holds, and its time; `counts` is false if it arrived too late. */
export type ModelRound = Proposal & { at: number; counts: boolean };

type State = { rows: ModelRow[]; marks: Mark[]; rounds: ModelRound[] };

/** In statements: how long after its proposal a round counts, and how long the store remembers its token at least. */
const COUNTS_FOR = 20;

/** The tables of the log in memory. A statement sees everything that was carried out before it. */
export class ModelStore implements State {
  rows: ModelRow[] = [];
  marks: Mark[] = [];
  rounds: ModelRound[] = [];
  /** The time of the store: each statement of the log takes one unit of it. */
  #time = 0;
  /** Inserts that a round has looked at, and rows that arrived after a round had looked at another with their body. */
  readonly #looked = new Set<string>();
  readonly #late = new Set<string>();
  /** Violations of the rules. */
  readonly faults: string[] = [];
  readonly #schedule: Schedule;
  readonly #flaw: Flaw | undefined;

  constructor(schedule: Schedule, flaw?: Flaw) {
    this.#schedule = schedule;
    this.#flaw = flaw;
  }

  /** The entries of the log, in its order. */
  entries(state: State = this): string[] {
    return countingOf(state)
      .sort((a, b) => a.round - b.round)
      .flatMap(({ rows }) => rows.flatMap(({ entries }) => entries.split(' ').filter(Boolean)));
  }

  listed(): Set<string> {
    const rounds = this.#flaw === 'late rounds list' ? this.rounds : countingOf(this);
    return new Set(rounds.flatMap(({ rows }) => rows.flatMap(({ flushes }) => flushes)));
  }

  insert(actor: string, row: ModelRow): Promise<void> {
    return this.#schedule.statement(actor, () => {
      if (this.#alike(row).some(({ flush }) => this.#looked.has(flush))) this.#late.add(row.entry);
      this.rows.push(row);
    });
  }

  /**
   * A merge: of the rows with one identity and one body, it keeps the one received first. Late rows are excluded. A round waits for a
   * second, and the store (not the rounds) promises that no insert is carried out later than that after its lookup.
   */
  merge(random: Random): void {
    const row = this.rows[random.below(this.rows.length)];
    if (row === undefined || this.#late.has(row.entry)) return;
    const alike = this.#alike(row).filter(({ entry }) => !this.#late.has(entry));
    const first = alike.reduce((a, b) => (BigInt(a.version) > BigInt(b.version) ? a : b), row);
    this.rows = this.rows.filter((one) => one === first || !alike.includes(one));
  }

  #alike({ project_id, event_id, body }: ModelRow): ModelRow[] {
    return this.rows.filter(
      (one) => one.project_id === project_id && one.event_id === event_id && one.body === body,
    );
  }

  known(actor: string, key: string): Promise<boolean> {
    return this.#schedule.statement(actor, () => this.marks.some((mark) => mark.key === key));
  }

  mark(actor: string, keys: string[]): Promise<void> {
    if (this.#flaw === 'no marks') return Promise.resolve();
    return this.#schedule.statement(
      actor,
      () => void this.marks.push(...keys.map((key) => ({ key, writer: actor }))),
    );
  }

  remove(actor: string, lost: LostRow[]): Promise<void> {
    return this.#schedule.statement(actor, () => {
      const logged = new Set(this.entries());
      for (const row of lost) {
        const others = this.rows.filter((one) => keyOf(one) === keyOf(row) && one.version !== row.version);
        if (!others.some(({ entry }) => logged.has(entry)))
          this.faults.push(`removed too early: ${keyOf(row)}`);
        this.rows = this.rows.filter((one) => keyOf(one) !== keyOf(row) || one.version !== row.version);
      }
    });
  }

  /** As one service sees it. */
  tables(actor: string) {
    let before: State | undefined;
    const ask = <T>(effect: (state: State) => T) =>
      this.#schedule.statement(actor, () => {
        this.#time += 1;
        return effect(this);
      });
    const look = <T>(effect: (state: State) => T) =>
      this.#flaw === 'look before head' && before !== undefined
        ? Promise.resolve(effect(before))
        : ask(effect);
    const tables = {
      newestRound: () => ask(({ rounds }) => Math.max(0, ...rounds.map(({ round }) => round))),
      newsAfter: async (after: number) => {
        if (this.#flaw === 'look before head')
          before = { rows: [...this.rows], marks: [...this.marks], rounds: [...this.rounds] };
        return ask(({ rounds }) => ({ now: String(this.#time), rows: newsOf(rounds, after) }));
      },
      sizeAt: (project: string, round: number) =>
        ask(
          ({ rounds }) =>
            newsOf(rounds, 0).findLast(
              (row) => row.counts && row.round <= round && row.project_id === project,
            )?.size ?? 0,
        ),
      extentOf: ({ flushes }) =>
        ask(({ rows }) => {
          const times = rows
            .filter(({ flush }) => flushes.includes(flush))
            .map(({ received_at }) => received_at)
            .sort();
          return times.length === 0
            ? undefined
            : { received_from: times[0] ?? '', received_to: times.at(-1) ?? '' };
        }),
      pieces: ({ flushes }, { lost, logged }) =>
        ask((state) => {
          const out = new Set(lost.map((row) => `${keyOf(row)} ${row.version}`));
          const within = countingOf(state)
            .flatMap(({ rows }) => rows)
            .filter(
              (row) =>
                logged !== undefined &&
                row.received_from <= logged.received_to &&
                row.received_to >= logged.received_from,
            )
            .flatMap(({ entries }) => entries.split(' '));
          const has = new Set(this.#flaw === 'nothing left out' ? [] : within);
          return piecesOf(
            state.rows.filter(
              (row) =>
                flushes.includes(row.flush) &&
                !out.has(`${keyOf(row)} ${row.version}`) &&
                !has.has(row.entry),
            ),
          );
        }),
      mark: (flushes) =>
        ask(({ rows, marks }) => {
          if (this.#flaw === 'no marks') return;
          for (const row of rows)
            if (flushes.includes(row.flush)) marks.push({ key: keyOf(row), writer: row.flush });
        }),
      rivals: (flushes, { isCareful }) =>
        look(({ rows, marks }) => {
          for (const flush of flushes) this.#looked.add(flush);
          const asked = new Set(rows.filter(({ flush }) => flushes.includes(flush)).map(keyOf));
          const writers = Map.groupBy(marks, ({ key }) => key);
          return [...Map.groupBy(rows, keyOf)].flatMap(([key, group]) => {
            const isMarked = new Set(writers.get(key)?.map(({ writer }) => writer)).size > 1;
            const isCollapsible =
              this.#flaw !== 'rows without a mark unseen' &&
              new Set(group.map(({ body }) => body)).size < group.length;
            return asked.has(key) && group.length > 1 && (isMarked || isCareful || isCollapsible)
              ? group
              : [];
          });
        }),
      logged: (rivals) =>
        look((state) => {
          const all = new Set(this.entries(state));
          const isIn = ({ entry }: Rival) => this.#flaw === 'removal before commit' || all.has(entry);
          return new Set(rivals.filter(isIn).map(({ entry }) => entry));
        }),
      commit: (proposal) =>
        ask(({ rounds }) => {
          const at = this.#time;
          const isKept = (one: ModelRound) => one.round === proposal.round && at - one.at < COUNTS_FOR;
          if (rounds.some(isKept) && this.#flaw !== 'no token') return;
          const isLate = at - Number(proposal.proposed_at) >= COUNTS_FOR;
          rounds.push({
            ...structuredClone(proposal),
            at,
            counts: !isLate || this.#flaw === 'late rounds count',
          });
        }),
      append: ({ flushes }, { starts, ...head }) =>
        ask(({ rows, rounds }) => {
          const pieces = piecesOf(rows.filter(({ flush }) => flushes.includes(flush)));
          const chunks = pieces.map((piece, at) => ({
            ...piece,
            start: starts.get(piece.project_id) ?? 0,
            flushes: at === 0 ? flushes : [],
          }));
          rounds.push({ ...head, rows: chunks, at: this.#time, counts: true });
        }),
    } satisfies RoundDeps['tables'];
    return tables;
  }
}

function countingOf({ rounds }: State): ModelRound[] {
  return rounds.filter(({ counts }) => counts);
}

function newsOf(rounds: ModelRound[], after: number): NewsRow[] {
  return rounds
    .filter(({ round }) => round > after)
    .flatMap(({ round, proposal, rows, counts }) =>
      rows.map(({ project_id, start, entries }) => ({
        round,
        proposal,
        project_id,
        size: start + entries.split(' ').filter(Boolean).length,
        counts,
      })),
    )
    .sort((a, b) => a.round - b.round || a.project_id.localeCompare(b.project_id) || a.size - b.size);
}

function piecesOf(rows: Rival[]): Piece[] {
  return [...Map.groupBy(rows, ({ project_id }) => project_id)].map(([project_id, group]) => {
    const sorted = group.sort((a, b) => (a.received_at < b.received_at ? -1 : 1));
    return {
      project_id,
      entries: sorted.map(({ entry }) => entry).join(' '),
      count: sorted.length,
      received_from: sorted[0]?.received_at ?? '',
      received_to: sorted.at(-1)?.received_at ?? '',
    };
  });
}
