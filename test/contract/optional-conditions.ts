import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import { readdirSync } from 'node:fs';
import type { QueryParams } from '../../server/store/connection.ts';
import { sql } from '../../server/store/sql.ts';
import { clickhouseTime } from '../../server/store/time.ts';
import type { Store } from '../../server/store/store.ts';
import { DAY_MS } from '../../server/durations.ts';

const MARK = / -- optional: (\w+(?:, \w+)*)$/gm;
const NAMES = readdirSync(new URL('../../clickhouse/query/', import.meta.url), 'utf8')
  .map((name) => name.replace('.sql', ''))
  .filter((name) => sql(name).search(MARK) !== -1);

/** Some days ago, at ten. */
const FIRST_MS = (Math.floor(Date.now() / DAY_MS) - 3) * DAY_MS + 10 * 3_600_000;
const DAYS = [FIRST_MS, FIRST_MS + DAY_MS].map((ms) => clickhouseTime(ms).slice(0, 10));

/** The number of the insert of these rows only. */
const FLUSH = String(Date.now() * 4_096_000 + 1);

/**
 * 256 rows with every combination of the values in the conditions, half of them on the next day. One sender has numbered them, and some
 * numbers between the days are missing. All of them are in the log, followed by another entry.
 */
const ROWS = [
  `INSERT INTO decisions (project_id, event_id, occurred_at, agent_name, role, outcome, tool_name, user_id, session_id, reason, version,
     salt, flush, emitter, sequence, dropped)
   SELECT {project_id: String}, generateUUIDv4(), {first: DateTime64(3, 'UTC')} + INTERVAL bitTest(number, 7) DAY,
     toString(bitTest(number, 0)), toString(bitTest(number, 1)), bitTest(number, 2) + 1, toString(bitTest(number, 3)),
     toString(bitTest(number, 4)), toString(bitTest(number, 5)), if(bitTest(number, 6), 'one', 'two'), 1,
     generateUUIDv4(), {flush: UInt64}, {project_id: UUID}, 1 + number + 5 * bitTest(number, 7), 3
   FROM numbers(256)`,
  `INSERT INTO llm_invocations (project_id, event_id, occurred_at, agent_name, model, role, user_id, session_id, input_tokens, version)
   SELECT {project_id: String}, generateUUIDv4(), {first: DateTime64(3, 'UTC')} + INTERVAL bitTest(number, 7) DAY,
     toString(bitTest(number, 0)), toString(bitTest(number, 1)), toString(bitTest(number, 2)), toString(bitTest(number, 4)),
     toString(bitTest(number, 5)), number, 1
   FROM numbers(256)`,
  `INSERT INTO event_identities (stream, project_id, event_id, occurred_at, received_at)
   SELECT 'decisions', project_id, event_id, occurred_at, received_at FROM decisions WHERE project_id = {project_id: String}`,
  `INSERT INTO agent_versions (project_id, agent_name, version) SELECT {project_id: String}, '1', number FROM numbers(3)`,
  `INSERT INTO log_chunks (project_id, start, round, entries, received_from, received_to, proposed_at)
   SELECT {project_id: String}, 0, 1, groupArray(entry), min(received_at), max(received_at), now64(6)
   FROM decisions WHERE project_id = {project_id: String}
   UNION ALL
   SELECT {project_id: String}, 256, 2, [SHA256('')], now64(3), now64(3), now64(6)`,
  `INSERT INTO log_hashes (project_id, level, idx, hash)
   SELECT {project_id: String}, 1, number, SHA256(toString(number)) FROM numbers(256)`,
];

/** Each condition that can be dropped, with the parameters that belong to it. It selects some of the rows. */
const HOURS = {
  hours_from: clickhouseTime(FIRST_MS - 3_600_000).slice(0, 19),
  hours_until: clickhouseTime(FIRST_MS + 10 * DAY_MS).slice(0, 19),
};
const GIVEN: Record<string, QueryParams> = {
  ...Object.fromEntries(
    Object.entries({
      agent: '1',
      model: '1',
      role: '1',
      outcome: 'deny',
      tool: '1',
      user_id: '1',
      session_id: '1',
      reason: 'one',
    }).flatMap(([name, value]) => [
      [name, { [name]: [value] }],
      [`not_${name}`, { [`not_${name}`]: [value] }],
    ]),
  ),
  q: { q: ['TWO'] },
  until: { until: clickhouseTime(FIRST_MS), limit: 1000 },
  version: { version: 1 },
  final_days: { final_days: DAYS },
  few_rows: { few_rows: 1 },
  many_rows: { many_rows: 1 },
  hours_from: HOURS,
  days_from: {
    ...HOURS,
    days_from: DAYS[1] ?? '',
    days_until: clickhouseTime(FIRST_MS + 9 * DAY_MS).slice(0, 10),
  },
  recent: { recent: clickhouseTime(Date.now() - 3_600_000).slice(0, 19) },
  hour: { hour: clickhouseTime(FIRST_MS).slice(0, 19) },
  overlap_from: { overlap_from: clickhouseTime(0), overlap_to: clickhouseTime(FIRST_MS + 90 * DAY_MS) },
  round: { round: '1' },
  leaves: { leaves: 1 },
  below: { below: 1 },
  limit: { limit: 1000 },
  only_project: { only_project: 'nobody' },
  after_block: { after_block: 2 ** 40 },
  part_rows_max: { part_rows_max: 1 },
  places: { places: [FIRST_MS, FIRST_MS + DAY_MS].map(clickhouseTime) },
};
/** The parameters that only one statement has. */
const OWN: Record<string, QueryParams> = {
  alert_counts: {
    names_max: 10,
    long_from: clickhouseTime(FIRST_MS - DAY_MS),
    short_from: clickhouseTime(FIRST_MS + DAY_MS),
    minute_from: clickhouseTime(FIRST_MS + DAY_MS),
    until: clickhouseTime(FIRST_MS + 10 * DAY_MS),
  },
  llm_usage_breakdown: { by: 'model' },
  identities_page: {
    from: '00000000-0000-0000-0000-000000000000',
    to: 'ffffffff-ffff-ffff-ffff-ffffffffffff',
  },
  alert_history: { ...HOURS, names_max: 10, days_from: DAYS[0] ?? '', days_until: DAYS[1] ?? '' },
};
/** They decide how the same records are read. */
const WAYS = ['final_days', 'hours_from', 'days_from', 'few_rows', 'many_rows', 'places', 'recent'];

/** Each query file must give the same answer unchanged and in the form that the service runs, without its idle conditions. */
export function optionalConditionsSuite(store: () => Store): void {
  let params: QueryParams;
  before(async () => {
    const project_id = randomUUID();
    for (const statement of ROWS)
      await store().background.command(statement, {
        project_id,
        first: clickhouseTime(FIRST_MS),
        flush: FLUSH,
      });
    const anyOne = 'SELECT event_id FROM decisions WHERE project_id = {project_id: String} LIMIT 1';
    const [row] = await store().lookups.query<{ event_id: string }>(anyOne, { project_id });
    params = {
      project_id,
      project_ids: [project_id],
      event_id: row?.event_id ?? '',
      since: clickhouseTime(FIRST_MS - 7_200_000),
      before: clickhouseTime(FIRST_MS + 20 * DAY_MS),
      hours_until: null,
      days_until: null,
      bucket_seconds: 86_400,
      by: 'tool_name',
      days: DAYS,
      until_id: '8',
      agent_name: '1',
      format: 'ndjson',
      limit: 1000,
      table: 'decisions',
      from_hour: clickhouseTime(FIRST_MS - DAY_MS).slice(0, 19),
      oldest: clickhouseTime(FIRST_MS - DAY_MS).slice(0, 19),
      alive_since: clickhouseTime(FIRST_MS - DAY_MS),
      silent_since: clickhouseTime(FIRST_MS),
      hours: [],
      until_emitter: '',
      until_first: 0,
      flushes: [FLUSH],
      out_project_ids: [],
      out_event_ids: [],
      out_versions: [],
      overlap_to: null,
      level: 2,
      from: 0,
      to: 1,
      offset: 0,
      is_final: 0,
      stream: 'decisions',
      page_granules: 1,
    };
  });

  for (const name of NAMES) {
    it(`${name}.sql gives the same answer with and without its optional conditions`, async () => {
      const given: Record<string, QueryParams> = { ...GIVEN, out_project_ids: theFirst() };
      const optional = [
        ...new Set(Array.from(sql(name).matchAll(MARK), ([, names]) => names?.split(', ') ?? []).flat()),
      ];
      const absent = Object.fromEntries(
        optional.map((parameter) => [parameter, Array.isArray(given[parameter]?.[parameter]) ? [] : null]),
      );
      const all = await bothAnswers(name, absent);
      expect(all.length).to.be.above(0);
      // Which conditions are dropped is the same on every connection.
      for (const parameter of store().kind === 'embedded' ? optional : []) {
        const some = await bothAnswers(name, { ...absent, ...given[parameter] });
        if (WAYS.includes(parameter)) expect(some).to.equal(all);
        else expect(some, parameter).to.not.equal(all);
      }
      await bothAnswers(name, Object.assign({}, ...Object.values(given)) as QueryParams);
    });
  }

  /** The position of a record, as one that lost a conflict. */
  function theFirst(): QueryParams {
    const { project_id = null, event_id = null } = params;
    return { out_project_ids: [project_id], out_event_ids: [event_id], out_versions: ['1'] } as QueryParams;
  }

  async function bothAnswers(name: string, given: QueryParams): Promise<string> {
    const ask = async (text: string) => {
      const connection = store().lookups;
      const asked = { ...params, ...OWN[name], ...given };
      if (text.includes('FORMAT ')) return (await connection.queryBytes(text, asked)).toString('latin1');
      // An optional column may be absent or empty.
      return JSON.stringify(await connection.query(text, asked), (key, value: unknown) =>
        key === 'pages' && (value as unknown[]).length === 0 ? undefined : value,
      );
    };
    const text = sql(name).replace(/^INSERT INTO .*$/m, '');
    const run = await ask(text);
    expect(await ask(text.replaceAll(MARK, ''))).to.equal(run);
    return run;
  }
}
