import { expect } from 'chai';
import { parseExportPage } from '../../../server/records/export-page.ts';
import { bucketsFrom } from '../../../server/records/counts.ts';
import { cursorText, parseCursor } from '../../../server/records/cursor.ts';
import type { AuditReads, ReadDays } from '../../../server/records/days.ts';
import type { DecisionFilters } from '../../../server/records/filters.ts';
import { daysOfPage, readRecords } from '../../../server/records/pages.ts';
import { readRange, readWindow } from '../../../server/records/window.ts';

const COUNTS = [
  { day: '2026-03-10', total: 10 },
  { day: '2026-03-09', total: 5 },
  { day: '2026-03-07', total: 100 },
];
const cursorOn = (day: string) => ({ occurredAtMs: Date.parse(`${day}T12:00:00Z`), event_id: 'x' });

describe('the days of a page', () => {
  const CASES: [string, Parameters<typeof daysOfPage>[1], ReturnType<typeof daysOfPage>][] = [
    ['the newest alone', { limit: 10, offset: 0, cursor: undefined }, { days: ['2026-03-10'], offset: 0 }],
    [
      'one more',
      { limit: 11, offset: 0, cursor: undefined },
      { days: ['2026-03-10', '2026-03-09'], offset: 0 },
    ],
    ['past whole days', { limit: 3, offset: 12, cursor: undefined }, { days: ['2026-03-09'], offset: 2 }],
    [
      'on the edge of a day',
      { limit: 1, offset: 10, cursor: undefined },
      { days: ['2026-03-09'], offset: 0 },
    ],
    ['past the end', { limit: 5, offset: 115, cursor: undefined }, { days: [], offset: 0 }],
    [
      'from a cursor: its day, and as many as certainly hold the page',
      { limit: 5, offset: 0, cursor: cursorOn('2026-03-10') },
      { days: ['2026-03-10', '2026-03-09'], offset: 0 },
    ],
    [
      'from a cursor on a day without records',
      { limit: 5, offset: 0, cursor: cursorOn('2026-03-08') },
      { days: ['2026-03-07'], offset: 0 },
    ],
    [
      'from a cursor with an offset',
      { limit: 5, offset: 3, cursor: cursorOn('2026-03-10') },
      { days: ['2026-03-10', '2026-03-09', '2026-03-07'], offset: 3 },
    ],
  ];
  for (const [what, page, expected] of CASES) {
    it(`are ${what}`, () => expect(daysOfPage(COUNTS, page)).to.deep.equal(expected));
  }
});

describe('a page whose records arrived after they were counted', () => {
  const row = { occurred_at: '2026-03-10 10:00:00.000', event_id: '0123abcd-0000-4000-8000-000000000000' };
  const days = { read: (_window: unknown, read: (finalDays: string[]) => unknown) => read([]) };
  const totalOf = async (counted: number, listed: number, page = { limit: 50, offset: 0 }) => {
    const reads = { runRead: () => Promise.resolve(Array.from({ length: listed }, () => row)) };
    const window = readWindow('24h', Date.parse('2026-03-10T12:00:00Z'));
    const { signal } = new AbortController();
    const scope = { projectId: 'p', window, filters: {} as DecisionFilters, signal };
    const { total } = await readRecords(reads as unknown as AuditReads, scope, {
      days: days as unknown as ReadDays,
      statement: 'decisions_page',
      countPerDay: () => Promise.resolve([{ day: '2026-03-10', total: counted }]),
      page: { ...page, cursor: undefined },
    });
    return total;
  };

  it('has a total of at least its items', async () => {
    expect(await totalOf(3, 5)).to.equal(5);
    expect(await totalOf(3, 2, { limit: 50, offset: 2 })).to.equal(4);
  });

  it('has the counted total if it has fewer items, or none', async () => {
    expect(await totalOf(30, 5)).to.equal(30);
    expect(await totalOf(3, 0, { limit: 50, offset: 9 })).to.equal(3);
  });
});

describe('a cursor', () => {
  it('is unchanged by a round trip', () => {
    for (const occurredAtMs of [0, -1, Date.now(), 10_413_791_999_999]) {
      const cursor = { occurredAtMs, event_id: '0123abcd-0000-4000-8000-000000000000' };
      expect(parseCursor(cursorText(cursor))).to.deep.equal(cursor);
    }
  });
});

describe('a text that is no cursor', () => {
  const ID = '0123abcd-0000-4000-8000-000000000000';
  const [first, last] = [-2_208_988_800_000, 10_413_791_999_999];
  // It might be a key that was given by mistake.
  const LONG = '[redacted]';
  const CASES: [string, text: string, said: string][] = [
    ['is before 1900', cursorText({ occurredAtMs: first - 1, event_id: ID }), LONG],
    ['is after 2299', cursorText({ occurredAtMs: last + 1, event_id: ID }), LONG],
    ['has an upper-case id', cursorText({ occurredAtMs: 0, event_id: ID.toUpperCase() }), LONG],
    ['has a padded text', `${cursorText({ occurredAtMs: 0, event_id: ID })}=`, `${LONG}=`],
    ['is empty', '', ''],
    ['is long', 'x'.repeat(300), 'x'.repeat(200)],
  ];
  for (const [what, text, said] of CASES) {
    it(`is refused by name if it ${what}`, () => {
      const message = `must be the next_cursor of an answer, not "${said}"`;
      expect(() => parseCursor(text))
        .to.throw(`cursor ${message}`)
        .that.deep.includes({ code: 'query_invalid', errors: [{ path: 'cursor', message }] });
    });
  }

  it('is not accepted for the first or the last moment', () => {
    for (const occurredAtMs of [first, last])
      expect(parseCursor(cursorText({ occurredAtMs, event_id: ID })).occurredAtMs).to.equal(occurredAtMs);
  });
});

describe('the buckets of a time series', () => {
  const nowMs = Date.parse('2026-03-10T10:58:00.000Z');
  const at = (text: string) => ({ start_seconds: Date.parse(text) / 1000 });
  const starts = (rows: { start_seconds: number }[], window: Parameters<typeof bucketsFrom>[1]) =>
    bucketsFrom(rows, window).map(({ start }) => start);

  it('end with the one that holds now, or with the newest record', () => {
    const window = readWindow('24h', nowMs);
    expect(starts([], window).at(-1)).to.equal('2026-03-10T10:00:00.000Z');
    const ahead = starts([at('2026-03-10T11:00:00Z')], window);
    expect([ahead.length, ahead.at(-1)]).to.deep.equal([26, '2026-03-10T11:00:00.000Z']);
  });

  it('have their rows, and none where the store has none', () => {
    const rows = [at('2026-03-09T12:00:00Z'), at('2026-03-10T10:00:00Z')];
    const buckets = bucketsFrom(rows, readWindow('24h', nowMs));
    expect(buckets.filter(({ row }) => row !== undefined).map(({ row }) => row)).to.deep.equal(rows);
    expect([buckets[2]?.row, buckets.at(-1)?.row]).to.deep.equal(rows);
  });

  it('are one fewer when the window begins on the edge of one', () => {
    const window = readWindow('24h', Date.parse('2026-03-10T10:00:00.000Z'));
    expect(starts([], window).length).to.equal(25);
    expect(starts([], window)[0]).to.equal('2026-03-09T10:00:00.000Z');
  });

  it('of a range end with the one before its end, also when that lies ahead', () => {
    const edges = [starts([], rangeOf('2026-03-10T09:00:00Z', '2026-03-10T12:00:00Z', nowMs))].flat();
    expect([edges[0], edges.at(-1), edges.length]).to.deep.equal([
      '2026-03-10T09:00:00.000Z',
      '2026-03-10T11:59:00.000Z',
      180,
    ]);
    expect(starts([], rangeOf('2026-03-10T09:00:59.999Z', '2026-03-10T09:01:00.001Z', nowMs))).to.deep.equal([
      '2026-03-10T09:00:00.000Z',
      '2026-03-10T09:01:00.000Z',
    ]);
  });
});

function rangeOf(from: string, to: string, nowMs: number) {
  return readRange({ from, to }, nowMs);
}

describe('a page of an export', () => {
  it('is read from RowBinary, whatever the length of its lines', () => {
    const id = '0123abcd-0000-4000-8000-000000000000';
    const lines = ['', 'x'.repeat(127), 'y'.repeat(128), 'é'.repeat(20_000)].map((text) => Buffer.from(text));
    const rows = lines.map((line, index) => {
      const time = Buffer.alloc(8);
      time.writeBigInt64LE(BigInt(index - 1));
      const length: number[] = [];
      for (let rest = line.length; ; rest >>= 7) {
        length.push(rest < 128 ? rest : (rest & 127) | 128);
        if (rest < 128) break;
      }
      return Buffer.concat([time, Buffer.from([36]), Buffer.from(id), Buffer.from(length), line]);
    });

    expect(parseExportPage(Buffer.concat(rows))).to.deep.equal({
      bytes: Buffer.concat(lines),
      rows: 4,
      last: { occurredAtMs: 2, event_id: id },
    });
    expect(parseExportPage(Buffer.alloc(0))).to.deep.equal({
      bytes: Buffer.alloc(0),
      rows: 0,
      last: undefined,
    });
  });
});
