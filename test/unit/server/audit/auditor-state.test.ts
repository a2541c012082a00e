import { expect } from 'chai';
import { type AuditorState, hasExpiredEarly, nextState } from '../../../../server/cli/audit/auditor-state.ts';
import { DAY_MS } from '../../../../server/durations.ts';

const NOW_MS = Date.parse('2026-11-22T12:00:00Z');
const daysAgo = (days: number) => NOW_MS - days * DAY_MS;
const timeOf = (ms: number) => new Date(ms).toISOString();

const visit = {
  vkey: 'key',
  checkpoint: 'checkpoint',
  size: 500,
  nowMs: NOW_MS,
  oldestMs: daysAgo(90),
  late: [],
};
const state = (changes: Partial<AuditorState>): AuditorState => ({
  format: 1,
  vkey: 'key',
  checkpoint: 'older',
  seen: [],
  late: [],
  ...changes,
});

describe('the state of an auditor', () => {
  it('begins with the first visit', () => {
    expect(nextState(undefined, visit)).to.deep.equal({
      format: 1,
      vkey: 'key',
      checkpoint: 'checkpoint',
      seen: [[timeOf(NOW_MS), 500]],
      late: [],
    });
  });

  it('keeps the first and the last visit of a day, because the entries were there then', () => {
    const first: AuditorState['seen'] = [[timeOf(NOW_MS - 7_200_000), 400]];
    const both: AuditorState['seen'] = [...first, [timeOf(NOW_MS - 3_600_000), 450]];

    for (const seen of [first, both])
      expect(nextState(state({ seen }), visit).seen).to.deep.equal([...first, [timeOf(NOW_MS), 500]]);
  });

  it('keeps of the visits before expiry only the last one', () => {
    const seen: AuditorState['seen'] = [200, 100, 84, 83, 82, 1].map((days, at) => [
      timeOf(daysAgo(days)),
      at,
    ]);

    const { seen: kept } = nextState(state({ seen }), visit);

    expect(kept.map(([, size]) => size)).to.deep.equal([3, 4, 5, 500]);
  });

  it('joins late records of one day that follow each other', () => {
    const late = [10, 12, 11, 14, 12].map((index) => ({ index, occurredMs: daysAgo(60) }));
    late.push({ index: 13, occurredMs: daysAgo(59) });

    const { late: rows } = nextState(state({ late: [[8, 9, timeOf(daysAgo(60)).slice(0, 10)]] }), {
      ...visit,
      late,
    });

    expect(rows).to.deep.equal([
      [8, 12, '2026-09-23'],
      [13, 13, '2026-09-24'],
      [14, 14, '2026-09-23'],
    ]);
  });

  it('drops late records once all entries up to theirs have expired', () => {
    const seen: AuditorState['seen'] = [[timeOf(daysAgo(84)), 100]];
    const late: AuditorState['late'] = [
      [10, 99, '2026-08-20'],
      [99, 100, '2026-08-21'],
    ];

    expect(nextState(state({ seen, late }), visit).late).to.deep.equal([late[1]]);
  });

  it('lets a late record expire from the beginning of its day', () => {
    const late: AuditorState['late'] = [[5, 7, '2026-08-20']];
    const beginMs = Date.parse('2026-08-20T00:00:00Z');

    const expired = [4, 5, 7, 8].map((index) => hasExpiredEarly({ late }, index, beginMs));

    expect(expired).to.deep.equal([false, true, true, false]);
    expect(hasExpiredEarly({ late }, 5, beginMs - 1)).to.equal(false);
  });
});
