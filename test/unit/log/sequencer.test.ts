import { mock } from 'node:test';
import { expect } from 'chai';
import { type Flushes, numberAt } from '../../../server/commit/flush-numbers.ts';
import { HOUR_MS } from '../../../server/durations.ts';
import type { LogTables, NewsRow } from '../../../server/log/log-tables.ts';
import { Sequencer } from '../../../server/log/sequencer.ts';
import { createLogger } from '../../../server/logger.ts';
import { eventually } from '../../support/eventually.ts';

const NOW_MS = Date.parse('2026-06-01T00:00:00.000Z');
const MINUTE_MS = 60_000;

describe('a scan of the log for inserts that are not in it', () => {
  let nowMs: number;
  let flush: bigint;
  let newestFlush: bigint;
  let newestRoundMs: number;
  let found: { flush: bigint; rows: number }[];
  let isAway: boolean;
  /** Where each scan began, and the inserts that each round handled carefully. */
  let scans: bigint[];
  let looked: string[];
  let appended: string[];
  /** The hour that has rows from before the log, how often it was looked for, and the hours that are complete. */
  let hour: string | undefined;
  let looksForHours: number;
  let completed: number[];
  /** An insert ends during every round. */
  let isBusy: boolean;
  let sequencer: Sequencer;
  let clock: ReturnType<typeof mock.method>;

  const endInsert = () =>
    sequencer.flushes.ended(sequencer.flushes.next(), { isSettled: true, projects: new Set(['p']) });

  const start = (isShared: boolean, before: (own: Flushes) => void = () => undefined): void => {
    const rows: NewsRow[] = [];
    const tables: Partial<LogTables> = {
      newestRound: async () => 0,
      newestFlush: async () => ({ flush: newestFlush, atMs: newestRoundMs }),
      unlisted: async ({ from }) => {
        scans.push(from);
        if (isAway) throw new Error('The store is away');
        return found;
      },
      hours: async () => {
        looksForHours += 1;
        return hour === undefined ? [] : [{ hour, number: '7', is_still: 1 }];
      },
      newsAfter: async () => ({ now: '', rows }),
      sizeAt: async () => 0,
      mark: async () => undefined,
      rivals: async (flushes) => (looked.push(...flushes), []),
      append: async ({ flushes }, { round, proposal }) => {
        appended.push(...flushes);
        rows.push({ round, proposal, project_id: 'p', size: 1, counts: true });
        if (isBusy) endInsert();
      },
      extentOf: async () => undefined,
      pieces: async () => [],
      commit: async ({ round, proposal, rows: [row] }) => {
        completed.push(Number(row?.start));
        rows.push({ round, proposal, project_id: '', size: 0, counts: true });
      },
    };
    sequencer = new Sequencer({
      tables: tables as LogTables,
      isShared,
      opened: async () => undefined,
      markOwn: async () => undefined,
      remove: async () => undefined,
      logger: createLogger('silent'),
      now: () => nowMs,
    });
    before(sequencer.flushes);
    sequencer.start();
  };
  beforeEach(() => {
    [nowMs, newestFlush, newestRoundMs, found, isAway] = [NOW_MS, numberAt(NOW_MS), NOW_MS, [], false];
    [scans, looked, appended] = [[], [], []];
    [hour, looksForHours, completed, isBusy] = [undefined, 0, [], false];
    // Whenever anyone looks, the waiting inserts are due.
    let passedMs = 0;
    clock = mock.method(performance, 'now', () => (passedMs += 5000));
  });
  afterEach(async () => {
    isBusy = false;
    await sequencer.close();
    clock.mock.restore();
  });

  it('begins an hour before now if an earlier process wrote with its clock ahead', async () => {
    newestFlush = numberAt(NOW_MS + 2 * HOUR_MS);
    start(false);
    await eventually(() => scans.length > 0);

    expect(scans).to.deep.equal([numberAt(NOW_MS - HOUR_MS)]);
  });

  it('begins an hour before the last round if an earlier process wrote with its clock ahead, and a later one was killed long ago', async () => {
    [newestFlush, newestRoundMs] = [numberAt(NOW_MS - HOUR_MS), NOW_MS - 6 * HOUR_MS];
    start(true);
    await eventually(() => scans.length > 0);

    expect(scans[0]).to.equal(numberAt(NOW_MS - 7 * HOUR_MS));
  });

  it('finds later inserts by numbers above those of the log and the store, whatever their process clock was', async () => {
    newestFlush = numberAt(Date.now() + 2 * HOUR_MS);
    found = [{ flush: numberAt(Date.now() + 3 * HOUR_MS), rows: 1 }];
    start(false);
    await sequencer.open();
    const afterOpen = sequencer.flushes.next();
    await eventually(() => looked.length > 0);
    const afterScan = sequencer.flushes.next();

    expect(afterOpen > newestFlush).to.equal(true);
    expect(found.every(({ flush }) => afterScan > flush)).to.equal(true);
  });

  it('goes back to the last one that succeeded, however long the store was unavailable', async () => {
    start(true);
    await eventually(() => scans.length > 1);
    isAway = true;
    nowMs += 10 * MINUTE_MS;
    await eventually(() => scans.length > 10);
    isAway = false;
    const failed = scans.length;
    await eventually(() => scans.length > failed + 2);

    const since = numberAt(NOW_MS - 3 * MINUTE_MS);
    expect(new Set(scans.slice(1, failed + 1))).to.deep.equal(new Set([since]));
    expect(scans.at(-1)).to.equal(numberAt(nowMs - 3 * MINUTE_MS));
  });

  it('leaves out its own running insert, which is appended once it has ended', async () => {
    start(false, (own) => {
      flush = own.next();
      found = [{ flush, rows: 12 }];
    });
    await eventually(() => scans.length > 0);
    sequencer.flushes.ended(flush, { isSettled: true, projects: new Set(['p']) });
    await eventually(() => appended.length > 0);

    expect(looked).to.deep.equal([]);
    expect(appended).to.deep.equal([String(flush)]);
  });

  it('keeps looking for rows from before the log if an older service may write as well', async () => {
    start(true);

    await eventually(() => looksForHours > 2);
  });

  it('takes rows from before the log even if every round has inserts', async () => {
    [hour, isBusy] = ['2026-05-31 07:00:00', true];
    start(false, endInsert);
    await eventually(() => completed.length > 0);

    expect(completed[0]).to.equal(7);
    expect(appended.length).to.be.above(0);
  });
});
