import { expect } from 'chai';
import { weeksOf } from '../../../server/dashboard/src/pages/overview/change.ts';
import { newOf } from '../../../server/dashboard/src/pages/overview/new-values.ts';
import { DAY_MS } from '../../../server/durations.ts';

const range = { fromMs: Date.UTC(2026, 2, 2), toMs: Date.UTC(2026, 2, 3) };
const seen = (value: string, first: string) => ({ value, first });

describe('what is new in a period', () => {
  it('is what was first seen within it', () => {
    const items = [
      seen('old', '2026-03-01T23:59:59.999Z'),
      seen('new', '2026-03-02T00:00:00.000Z'),
      seen('later', '2026-03-03T00:00:00.000Z'),
      seen('', '2026-03-02T12:00:00.000Z'),
    ];
    expect(newOf(items, range).map(({ value }) => value)).to.deep.equal(['new']);
  });

  it('is nothing if there is nothing older', () => {
    expect(newOf([seen('first', '2026-03-02T10:00:00.000Z')], range)).to.deep.equal([]);
  });
});

describe('the comparison with a time before', () => {
  it('goes back whole weeks, so that weekdays match', () => {
    expect([1 / 24, 1, 7, 7.1, 30].map((days) => weeksOf(days * DAY_MS))).to.deep.equal([1, 1, 1, 2, 5]);
  });
});
