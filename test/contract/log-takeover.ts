import { expect } from 'chai';
import { randomInt, randomUUID } from 'node:crypto';
import { LogTables } from '../../server/log/log-tables.ts';
import { sql } from '../../server/store/sql.ts';
import type { Store } from '../../server/store/store.ts';
import { clickhouseTime } from '../../server/store/time.ts';
import { DAY_MS, HOUR_MS } from '../../server/durations.ts';

const NOON = clickhouseTime(Math.floor(Date.now() / DAY_MS) * DAY_MS - DAY_MS / 2);
const DAY_BEFORE = clickhouseTime(Math.floor(Date.now() / DAY_MS) * DAY_MS - 1.5 * DAY_MS);
const EXPIRED = clickhouseTime(Math.floor(Date.now() / DAY_MS) * DAY_MS - 2.5 * DAY_MS);
/** A hundred pieces, and how much memory the engine may use for them. */
const RECORDS = 200_001;
const MEMORY_MAX = 300_000_000;

const KEYS = ['project_id', 'start', 'count', 'received_from', 'received_to', 'entries'];

/** How the log takes over the inserts of a service that has ended. */
export function logTakeoverSuite(store: () => Store): void {
  it('reads only the rows of identities with several rows, from inserts that it takes over, except expired ones', async () => {
    const project_id = randomUUID();
    const [alone, sameTime, otherDay, freed] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];
    const [taken, other] = [String(randomInt(2 ** 47)), String(randomInt(2 ** 47))];
    const insert = async (flush: string, writer: number, rows: [event_id: string, occurred_at: string][]) => {
      const events = rows.map((row) => JSON.stringify([project_id, ...row, NOON, flush]));
      const marks = rows.map((row) => JSON.stringify(['decisions', project_id, ...row, NOON, writer]));
      const columns = ['project_id', 'event_id', 'occurred_at', 'received_at'];
      const { background } = store();
      const token = undefined;
      await background.insert({ table: 'decisions', columns: [...columns, 'flush'], lines: events, token });
      const columnsOfMarks = ['stream', ...columns, 'writer'];
      await background.insert({ table: 'event_identities', columns: columnsOfMarks, lines: marks, token });
    };
    await insert(taken, 7, [
      [alone, NOON],
      [sameTime, NOON],
      [otherDay, NOON],
      [freed, NOON],
    ]);
    await insert(other, 8, [
      [sameTime, NOON],
      [otherDay, DAY_BEFORE],
      [freed, EXPIRED],
    ]);
    const asked: string[] = [];
    const tables = new LogTables({
      ...store().background,
      query: (text, params) => {
        if (text === sql('log_rivals')) asked.push(...((params?.['event_ids'] ?? []) as string[]));
        return store().background.query(text, params);
      },
    });
    await tables.mark([taken]);

    const rivals = await tables.rivals([taken], { isCareful: true, since: DAY_BEFORE });

    const found = rivals.map(({ event_id, flush }) => `${event_id} ${flush}`).sort();
    const expected = [sameTime, otherDay].flatMap((id) => [`${id} ${taken}`, `${id} ${other}`]).sort();
    expect(found).to.deep.equal(expected);
    expect(asked).to.have.members([sameTime, otherDay, freed]);
  });

  for (const [minutes, isListed] of [
    [4, true],
    [6, false],
  ] as const)
    it(`takes what a round lists for ${isListed ? 'logged' : 'not logged'} that came ${minutes} minutes after its proposal`, async () => {
      const { background } = store();
      const tables = new LogTables(background);
      const [project_id, flush] = [randomUUID(), 2 ** 47 + randomInt(2 ** 47)];
      await background.command(
        `INSERT INTO decisions (project_id, event_id, occurred_at, received_at, flush)
         SELECT {project_id: String}, generateUUIDv4(number), {day: DateTime64(3, 'UTC')} - INTERVAL {minutes: UInt8} HOUR, {day: DateTime64(3, 'UTC')}, number
         FROM (SELECT arrayJoin([{flush: UInt64}, 0]) AS number)`,
        { project_id, flush, minutes, day: DAY_BEFORE },
      );
      const round = (await tables.newestRound()) + 1;
      const isOf = ({ hour }: { hour: string }) =>
        hour === clickhouseTime(Date.parse(`${DAY_BEFORE}Z`) - minutes * HOUR_MS).slice(0, 19);
      const [hour] = (await tables.hours(DAY_BEFORE.slice(0, 10))).filter(isOf);
      await background.command(
        `INSERT INTO log_chunks (round, project_id, start, flushes, proposed_at, committed_at)
         SELECT {round: UInt64}, '', arrayJoin([0, {hour: UInt64}]) AS begin, if(begin = 0, [{flush: UInt64}], []), now64(6) - INTERVAL {minutes: UInt8} MINUTE, now64(6)`,
        { round, flush, minutes, hour: Number(hour?.number) },
      );

      const found = await tables.unlisted({ from: BigInt(flush), to: BigInt(flush), head: round });
      expect(found).to.deep.equal(isListed ? [] : [{ flush: BigInt(flush), rows: 1 }]);
      expect((await tables.hours(DAY_BEFORE.slice(0, 10))).filter(isOf)).to.deep.equal(
        isListed ? [] : [hour],
      );
      expect((await tables.newestFlush(round)).flush === BigInt(flush)).to.equal(isListed);
    });

  it('looks again at an hour from before the log when a row was received after it was complete', async () => {
    const { background } = store();
    const tables = new LogTables(background);
    const start = Date.parse(`${DAY_BEFORE}Z`) - 7 * HOUR_MS;
    const number = String(start / HOUR_MS);
    const receive = (minutesAgo: number) =>
      background.command(
        `INSERT INTO decisions (project_id, event_id, occurred_at, received_at)
         SELECT {project_id: String}, generateUUIDv4(), {occurred_at: DateTime64(3, 'UTC')}, now64(3) - INTERVAL {minutesAgo: UInt8} MINUTE`,
        { project_id: randomUUID(), occurred_at: clickhouseTime(start), minutesAgo },
      );
    const complete = async () =>
      background.command(
        `INSERT INTO log_chunks (round, project_id, start, proposed_at) SELECT {round: UInt64}, '', {number: UInt64}, now64(6)`,
        { round: (await tables.newestRound()) + 1, number },
      );
    const found = async () => {
      const hours = await tables.hours(DAY_BEFORE.slice(0, 10));
      return hours.filter((one) => one.number === number).map(({ is_still }) => Boolean(is_still));
    };

    await receive(11);
    const before = await found();
    await complete();
    const after = await found();
    await receive(9);
    const later = await found();

    expect({ before, after, later }).to.deep.equal({ before: [true], after: [], later: [false] });
  });

  it('cuts a large insert into pieces, in memory that grows with its records and not with their square', async () => {
    const { background } = store();
    const [project_id, flush] = [randomUUID(), String(randomInt(2 ** 47))];
    await background.command(
      `INSERT INTO decisions (project_id, event_id, occurred_at, received_at, flush)
       SELECT {project_id: String}, generateUUIDv4(), {noon: DateTime64(3, 'UTC')}, {noon: DateTime64(3, 'UTC')} + number % 1000, {flush: UInt64}
       FROM numbers({count: UInt32})`,
      { project_id, flush, noon: NOON, count: RECORDS },
    );
    const bounded = `${sql('log_pieces')}, max_memory_usage = ${MEMORY_MAX}`;
    const tables = new LogTables({ ...background, query: (_, params) => background.query(bounded, params) });

    const pieces = await tables.pieces({ flushes: [flush], since: NOON }, { lost: [], logged: undefined });

    const times = pieces.flatMap(({ received_from, received_to }) => [received_from, received_to]);
    expect(pieces.map(({ count }) => count)).to.deep.equal([
      ...Array<number>(Math.floor(RECORDS / 2048)).fill(2048),
      RECORDS % 2048,
    ]);
    expect(times).to.deep.equal(times.toSorted());
    expect(new Set(pieces.flatMap(({ entries }) => entries.split(' '))).size).to.equal(RECORDS);
  });

  it('appends inside of the engine the entries that it would read and write', async () => {
    const { background } = store();
    const flush = String(randomInt(2 ** 47));
    const sizes = { [`a-${randomUUID()}`]: 5000, [`b-${randomUUID()}`]: 3 };
    for (const [project_id, count] of Object.entries(sizes))
      await background.command(
        `INSERT INTO decisions (project_id, event_id, occurred_at, received_at, reason, flush)
         SELECT {project_id: String}, generateUUIDv4(), {noon: DateTime64(3, 'UTC')}, {noon: DateTime64(3, 'UTC')} + number % 1000, 'a/b', {flush: UInt64}
         FROM numbers({count: UInt32})`,
        { project_id, flush, noon: NOON, count },
      );
    const tables = new LogTables(background);
    const source = { flushes: [flush], since: NOON };
    const pieces = await tables.pieces(source, { lost: [], logged: undefined });
    const round = (await tables.newestRound()) + 1;

    // They continue after the existing entries of the log, which are not read. A slash shows whether the lines are those of the export.
    const starts = new Map(['0 without records', ...Object.keys(sizes)].map((project_id) => [project_id, 7]));
    await tables.append(source, { round, proposal: '5', proposed_at: NOON, starts });

    const rows = await background.query<Record<string, unknown>>(
      `SELECT project_id, toUInt32(start) AS start, arrayStringConcat(arrayMap(entry -> hex(entry), entries), ' ') AS entries,
         toUInt32(length(log_chunks.entries)) AS count, toString(received_from) AS received_from, toString(received_to) AS received_to
       FROM log_chunks WHERE round = {round: UInt64} ORDER BY project_id, start`,
      { round },
    );
    const expected = pieces.map((piece, at) => ({ ...piece, start: 7 + (at < 3 ? at * 2048 : 0) }));
    expect(rows.map((row) => JSON.stringify(row, KEYS))).to.deep.equal(
      expected.map((row) => JSON.stringify(row, KEYS)),
    );
    const listed = await background.query<{ flushes: string[] }>(
      'SELECT flushes FROM log_chunks WHERE round = {round: UInt64} AND notEmpty(flushes)',
      { round },
    );
    expect(listed.map(({ flushes }) => flushes.map(String))).to.deep.equal([[flush]]);
  });
}
