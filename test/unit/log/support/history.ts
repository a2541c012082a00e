import { keyOf } from '../../../../server/commit/identity.ts';
import { FlushQueue, type Waiting } from '../../../../server/log/flush-queue.ts';
import { LogRounds, NO_INSERTS } from '../../../../server/log/rounds.ts';
import { workOf } from '../../../../server/log/sequencer.ts';
import { Random } from '../../../support/random.ts';
import { type Flaw, type ModelRow, ModelStore } from './model-store.ts';
import { Schedule } from './schedule.ts';

const IDENTITIES = 6;
const STEPS = 350;
const ALL = { fresh: 2, careful: 2, ageMs: 0 };
const PROJECTS = ['p', 'q'] as const;
const BODIES = ['a', 'b'] as const;

/** Services that write events of few identities to one store, and log them, while some are killed or frozen. */
class History {
  readonly #random: Random;
  readonly #schedule: Schedule;
  readonly store: ModelStore;
  readonly acknowledged = new Set<string>();
  #received = 0;
  #services = 0;
  #isEnding = false;

  constructor(seed: number, flaw: Flaw | undefined) {
    this.#random = new Random(seed);
    this.#schedule = new Schedule(this.#random);
    this.store = new ModelStore(this.#schedule, flaw);
  }

  async run(): Promise<void> {
    const alive = [this.#start(), this.#start()];
    if (this.#random.chance(0.5)) alive.push(this.#start());
    for (let step = 0; step < STEPS; step += 1) {
      await this.#schedule.step();
      if (this.#random.chance(0.01)) this.#schedule.freeze(alive[this.#random.below(alive.length)] ?? '');
      if (this.#random.chance(0.02)) this.#schedule.thaw();
      if (this.#random.chance(0.1)) this.store.merge(this.#random);
      if (this.#random.chance(0.006)) {
        const at = this.#random.below(alive.length);
        this.#schedule.kill(alive[at] ?? '');
        alive[at] = this.#start();
      }
    }
    this.#schedule.thaw();
    this.#isEnding = true;
    while (await this.#schedule.step());
    await this.#scan();
  }

  #start(): string {
    this.#services += 1;
    const name = `${this.#services}:`;
    const queue = new FlushQueue(() => undefined);
    const unmarked: string[] = [];
    void this.#write(name, queue, unmarked);
    void this.#log(name, queue, unmarked);
    return name;
  }

  async #write(name: string, queue: FlushQueue, unmarked: string[]): Promise<void> {
    const actor = `${name}write`;
    while (!this.#isEnding) {
      await this.#schedule.pause(actor);
      const row = this.#newRow(queue);
      const key = keyOf(row);
      let isWritten = false;
      try {
        isWritten = unmarked.includes(key) || (await this.store.known(actor, key));
        if (!isWritten) {
          await this.store.insert(actor, row);
          unmarked.push(key);
          queue.ended(BigInt(row.flush), { isSettled: true, projects: new Set([row.project_id]) });
          isWritten = true;
        }
      } catch {
        queue.ended(BigInt(row.flush), { isSettled: false, projects: new Set([row.project_id]) });
      }
      if (isWritten) this.acknowledged.add(key);
    }
    queue.close();
  }

  #newRow(queue: FlushQueue): ModelRow {
    this.#received += 1;
    return {
      project_id: this.#random.pick(PROJECTS),
      event_id: `e${this.#random.below(IDENTITIES)}`,
      body: this.#random.pick(BODIES),
      day: 'd',
      version: String(1_000_000 - this.#received),
      flush: `${queue.next()}`,
      received_at: String(this.#received).padStart(6, '0'),
      entry: `x${this.#received}`,
    };
  }

  /** As the sequencer does, without its clock. */
  async #log(name: string, queue: FlushQueue, unmarked: string[]): Promise<void> {
    const actor = `${name}log`;
    const rounds = this.#rounds(actor);
    while (!this.#isEnding || queue.size > 0) {
      await this.#schedule.pause(actor);
      const taken = queue.take(ALL);
      if (taken.length === 0) continue;
      try {
        const keys = [...unmarked];
        await this.store.mark(name, keys);
        await this.#round(rounds, queue, taken);
      } catch {
        queue.putBack(taken);
      }
    }
  }

  async #round(rounds: LogRounds, queue: FlushQueue, taken: Waiting[]): Promise<void> {
    const { isDone, incomplete } = await rounds.run(workOf(taken));
    if (!isDone) return queue.putBack(taken);
    // The scan finds inserts that are not complete.
    if (this.#isEnding) return;
    const left = new Set(incomplete.map(BigInt));
    queue.putBack(taken.filter(({ flush }) => left.has(flush)));
  }

  #rounds(actor: string): LogRounds {
    return new LogRounds({
      tables: this.store.tables(actor),
      isShared: true,
      remove: (rows) => this.store.remove(actor, rows),
      expiredBefore: () => '',
    });
  }

  /** The last service, after all others have ended, finds the inserts that nobody logged. */
  async #scan(): Promise<void> {
    const rounds = this.#rounds('scan');
    let isDone = false;
    const work = async () => {
      for (let times = 0; times < 30; times += 1) {
        const listed = this.store.listed();
        const left = [...new Set(this.store.rows.map(({ flush }) => flush))].filter(
          (flush) => !listed.has(flush),
        );
        if (left.length === 0) break;
        const careful = left.slice(0, 3).map((flush) => ({ flush, isFinal: true }));
        await rounds.run({ ...NO_INSERTS, careful }).catch(() => undefined);
      }
      isDone = true;
    };
    void work();
    while (!isDone) await this.#schedule.step();
  }
}

/** The violations at the end of a random history. */
export async function faultsOf(seed: number, flaw?: Flaw): Promise<string[]> {
  const history = new History(seed, flaw);
  await history.run();
  const { store, acknowledged } = history;
  const faults = [...store.faults];
  const sizes = new Map<string, number>();
  const rounds = store.rounds.filter(({ counts }) => counts).sort((a, b) => a.round - b.round);
  for (const { round, rows: pieces } of rounds) {
    for (const { project_id, start, entries } of pieces.filter((row) => row.project_id !== '')) {
      const size = sizes.get(project_id) ?? 0;
      if (start !== size) faults.push(`round ${round} begins at ${start}, but the log has ${size}`);
      sizes.set(project_id, start + entries.split(' ').length);
    }
  }
  const logged = store.entries();
  if (new Set(logged).size < logged.length) faults.push('an entry is in the log twice');
  const rows = Map.groupBy(store.rows, keyOf);
  for (const [key, group] of rows)
    if (group.length > 1 || !group.every(({ entry }) => logged.includes(entry)))
      faults.push(
        `${key} has ${group.length} rows, of which ${group.filter(({ entry }) => logged.includes(entry)).length} are in the log`,
      );
  for (const key of acknowledged) if (!rows.has(key)) faults.push(`${key} is lost`);
  const kept = new Set(store.rows.map(({ entry }) => entry));
  for (const entry of logged) if (!kept.has(entry)) faults.push(`the record of ${entry} is gone`);
  return faults;
}
