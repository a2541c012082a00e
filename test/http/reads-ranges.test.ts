import { expect } from 'chai';
import { type Counts, type Page, sendDecision, sendLlm, type Summary } from '../support/audit.ts';
import { decisionEvent, llmInvocation } from '../support/events.ts';
import { ask, askJson, type CursorPage, type Timeseries } from '../support/reads.ts';
import { useSharedService } from '../support/shared-service.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../server/durations.ts';

/** Three days ago, at midnight. */
const DAY = Math.floor(Date.now() / DAY_MS) * DAY_MS - 3 * DAY_MS;
const timeOf = (ms: number) => new Date(ms).toISOString();
/** Of decisions or of calls. */
type Series = Omit<Timeseries, 'buckets'> & { buckets: { start: string; total?: number; calls?: number }[] };
type Usage = { totals: { calls: number }; buckets: { start: string; calls: number }[] };

type UsageBreakdown = { items: { calls: number; first: string; last: string }[] };

describe('a read over a range', () => {
  const service = useSharedService();
  /** Milliseconds after DAY, of the records and of the calls of a model. */
  const times = [-1, 0, 1, HOUR_MS - 1, HOUR_MS, 10 * HOUR_MS + 30_000, DAY_MS - 1, DAY_MS, 2 * DAY_MS];
  before(async () => {
    for (const [index, ms] of times.entries()) {
      const occurred_at = timeOf(DAY + ms);
      await sendDecision(service, decisionEvent({ occurred_at, role: String(index) }));
      await sendLlm(service, llmInvocation({ occurred_at }));
    }
    await sendDecision(
      service,
      decisionEvent({ occurred_at: timeOf(Date.now() - 89 * DAY_MS), role: 'old' }),
    );
  });

  const rangeOf = (fromMs: number, toMs: number) => ({ from: timeOf(DAY + fromMs), to: timeOf(DAY + toMs) });
  const RANGES: [number, number][] = [
    [0, DAY_MS],
    [1, DAY_MS - 1],
    [-1, 0],
    [0, 1],
    [0, HOUR_MS],
    [1, HOUR_MS],
    [HOUR_MS, DAY_MS],
    [30 * MINUTE_MS, 2 * DAY_MS],
    [-DAY_MS, 2 * DAY_MS + 1],
    [10 * HOUR_MS, 10 * HOUR_MS + MINUTE_MS],
    [11 * HOUR_MS, 12 * HOUR_MS],
  ];

  it('holds the records from its start to before its end, in every answer', async () => {
    for (const [fromMs, toMs] of RANGES) {
      const query = rangeOf(fromMs, toMs);
      const roles = times.flatMap((ms, index) => (ms >= fromMs && ms < toMs ? [String(index)] : []));
      const said = `${query.from} to ${query.to}`;
      const scope = { project_id: service.project_id, window: null };

      const page = await askJson<Page>(service, 'decisions', { query });
      expect([page.window, page.total], said).to.deep.equal([null, roles.length]);
      expect(page.items.map(({ role }) => role)).to.deep.equal(roles.toReversed());
      const { text } = await ask(service, 'decisions/export', { query });
      expect(text.split('\n').length - 1, said).to.equal(roles.length);

      const { totals, by_role, project_id, window, from, to } = await askJson<Summary>(service, 'summary', {
        query,
      });
      expect({ project_id, window, from, to }).to.deep.equal({ ...scope, ...query });
      expect([totals.total, by_role.map(({ role }) => role).sort()], said).to.deep.equal([
        roles.length,
        roles,
      ]);

      for (const endpoint of ['timeseries', 'llm-usage/timeseries']) {
        const series = await askJson<Series>(service, endpoint, {
          query,
        });
        expect({ ...scope, ...query }).to.deep.include({
          from: series.from,
          to: series.to,
          window: series.window,
        });
        const bucketMs = series.bucket_seconds * 1000;
        const starts = series.buckets.map(({ start }) => Date.parse(start));
        const first = Math.floor((DAY + fromMs) / bucketMs) * bucketMs;
        expect(starts).to.deep.equal(starts.map((_, index) => first + index * bucketMs));
        expect([starts.length <= 200, starts.at(-1)], said).to.deep.equal([
          true,
          Math.floor((DAY + toMs - 1) / bucketMs) * bucketMs,
        ]);
        const counts = series.buckets.map(({ total, calls }) => total ?? calls);
        const expected = starts.map(
          (start) =>
            times.filter(
              (ms) => ms >= fromMs && ms < toMs && DAY + ms >= start && DAY + ms < start + bucketMs,
            ).length,
        );
        expect(counts, said).to.deep.equal(expected);
      }
      const usage = await askJson<Usage>(service, 'llm-usage', { query });
      expect(usage.totals.calls, said).to.equal(roles.length);
      const by = { ...query, by: 'model' };
      const { items } = await askJson<UsageBreakdown>(service, 'llm-usage/breakdown', { query: by });
      const inside = times.filter((ms) => ms >= fromMs && ms < toMs).map((ms) => timeOf(DAY + ms));
      expect(
        items.map(({ calls, first, last }) => [calls, first, last]),
        said,
      ).to.deep.equal(inside.length === 0 ? [] : [[inside.length, inside.at(0), inside.at(-1)]]);
    }
  });

  const SIZES: [number, number][] = [
    [200 * MINUTE_MS, 60],
    [201 * MINUTE_MS, 300],
    [1000 * MINUTE_MS, 300],
    [1001 * MINUTE_MS, 900],
    [50 * HOUR_MS, 900],
    [51 * HOUR_MS, 3600],
    [200 * HOUR_MS, 3600],
    [201 * HOUR_MS, 21_600],
    [50 * DAY_MS, 21_600],
    [51 * DAY_MS, 86_400],
    [90 * DAY_MS, 86_400],
  ];
  it('has buckets of the smallest size that makes at most 200', async () => {
    for (const [ms, seconds] of SIZES) {
      const { bucket_seconds } = await askJson<Timeseries>(service, 'timeseries', { query: rangeOf(-ms, 0) });
      expect(bucket_seconds, `${ms} ms`).to.equal(seconds);
    }
  });

  it('accepts times in any zone, and truncates fractions to milliseconds', async () => {
    const from = timeOf(DAY + 2 * HOUR_MS).replace('.000Z', '.0009+02:00');
    const { from: answered, totals } = await askJson<Summary>(service, 'summary', {
      query: { from, to: timeOf(DAY + 1).toLowerCase() },
    });
    expect([answered, totals.total]).to.deep.equal([timeOf(DAY), 1]);
  });

  it('may end in the future, and has empty buckets there', async () => {
    const toMs = Math.ceil(Date.now() / HOUR_MS) * HOUR_MS + 5 * HOUR_MS;
    const query = { from: timeOf(toMs - DAY_MS), to: timeOf(toMs) };
    const { buckets, bucket_seconds } = await askJson<Timeseries>(service, 'timeseries', { query });
    expect([buckets.length * bucket_seconds, buckets.at(-1)?.total]).to.deep.equal([86_400, 0]);
  });

  it('shows nothing that is older than 90 days, and everything that is not', async () => {
    const query = { from: timeOf(Date.now() - 100 * DAY_MS), to: timeOf(Date.now() - 11 * DAY_MS) };
    const { totals } = await askJson<Summary>(service, 'summary', { query });
    expect(totals.total).to.equal(1);
    const before = { from: timeOf(Date.now() - 150 * DAY_MS), to: timeOf(Date.now() - 91 * DAY_MS) };
    const { buckets, bucket_seconds } = await askJson<Timeseries>(service, 'timeseries', { query: before });
    expect(buckets.every(({ total }) => total === 0)).to.equal(true);
    expect([bucket_seconds, buckets.length > 58]).to.deep.equal([86_400, true]);
    const { total } = await askJson<CursorPage>(service, 'decisions', { query: before });
    expect(total).to.equal(0);
  });

  it('is paged by cursor, and keeps its total', async () => {
    const query = { ...rangeOf(0, 2 * DAY_MS), limit: '3' };
    const roles: unknown[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const more: Record<string, string> = cursor === '' ? {} : { cursor };
      const page: CursorPage = await askJson<CursorPage>(service, 'decisions', {
        query: { ...query, ...more },
      });
      expect(page.total).to.equal(7);
      roles.push(...page.items.map(({ role }) => role));
      cursor = page.next_cursor;
    }
    expect(roles).to.deep.equal(['7', '6', '5', '4', '3', '2', '1']);
  });

  it('names its export after its start and end', async () => {
    const { headers } = await ask(service, 'decisions/export', { query: rangeOf(0, DAY_MS) });
    const [from, to] = [DAY, DAY + DAY_MS].map((ms) => timeOf(ms).slice(0, 19).replaceAll(':', ''));
    expect(headers.get('content-disposition')).to.equal(
      `attachment; filename="decisions-${from}Z-${to}Z.ndjson"`,
    );
  });
});

describe('a filter', () => {
  const service = useSharedService();
  const RECORDS: Record<string, string>[] = [
    { agent_name: 'a', role: '', tool_name: 't1', outcome: 'allow', user_id: 'u1', session_id: 's1' },
    { agent_name: 'a', role: 'r1', tool_name: 't2', outcome: 'deny', user_id: 'u2', session_id: 's1' },
    { agent_name: 'b', role: 'r2', tool_name: 't1', outcome: 'deny', user_id: '', session_id: '' },
    {
      agent_name: 'c',
      role: 'r1',
      tool_name: 't3',
      outcome: 'needs_approval',
      user_id: 'u1',
      session_id: 's2',
    },
  ];
  before(async () => {
    for (const record of RECORDS) {
      await sendDecision(service, decisionEvent(record));
      const { agent_name, user_id, session_id } = record;
      await sendLlm(service, llmInvocation({ agent_name, user_id, session_id }));
    }
  });

  /** A query and the records that it selects. */
  const CASES: [string, number[]][] = [
    ['agent=a', [0, 1]],
    ['agent=a&agent=b', [0, 1, 2]],
    ['not.agent=a', [2, 3]],
    ['not.agent=a&not.agent=c', [2]],
    ['agent=a&agent=c&not.agent=a', [3]],
    ['agent=a&not.user_id=u1', [1]],
    ['user_id=', [2]],
    ['user_id=&user_id=u2', [1, 2]],
    ['not.user_id=', [0, 1, 3]],
    ['session_id=s1&not.user_id=u2', [0]],
    ['not.session_id=s1', [2, 3]],
    ['agent=x', []],
    ['not.agent=x', [0, 1, 2, 3]],
    ['agent=a&agent=a', [0, 1]],
    ['role=', [0]],
    ['role=&role=r2', [0, 2]],
    ['not.role=&not.role=r1', [2]],
    ['tool=t1&outcome=deny', [2]],
    ['outcome=deny&outcome=allow', [0, 1, 2]],
    ['not.outcome=deny', [0, 3]],
    ['not.tool=t1&not.tool=t2', [3]],
  ];
  for (const [query, selected] of CASES) {
    it(`${query} selects the same records in every read`, async () => {
      const records = selected.map((index) => RECORDS[index] ?? {});
      const count = (outcome: string) => records.filter((record) => record['outcome'] === outcome).length;
      const counts = {
        total: records.length,
        allow: count('allow'),
        deny: count('deny'),
        needs_approval: count('needs_approval'),
      };
      const page = await askJson<Page>(service, 'decisions', { query });
      expect(page.items.map(({ agent_name, user_id }) => [agent_name, user_id])).to.have.deep.members(
        records.map(({ agent_name, user_id }) => [agent_name, user_id]),
      );
      expect(page.total).to.equal(records.length);
      const { text } = await ask(service, 'decisions/export', { query });
      expect(text.split('\n').length - 1).to.equal(records.length);
      const { totals, by_agent } = await askJson<Summary>(service, 'summary', { query });
      expect(totals).to.deep.equal(counts);
      expect(by_agent.map(({ agent_name }) => agent_name)).to.have.members([
        ...new Set(records.map(({ agent_name }) => agent_name)),
      ]);
      const { buckets } = await askJson<Timeseries>(service, 'timeseries', { query });
      const sum = (key: keyof Counts) => buckets.reduce((all, bucket) => all + bucket[key], 0);
      expect({
        total: sum('total'),
        allow: sum('allow'),
        deny: sum('deny'),
        needs_approval: sum('needs_approval'),
      }).to.deep.equal(counts);
      if (/role|tool|outcome/.test(query)) return;
      const { items } = await askJson<UsageBreakdown>(service, 'llm-usage/breakdown', {
        query: `${query}&by=session_id`,
      });
      expect(items.reduce((all, { calls }) => all + calls, 0)).to.equal(records.length);
      for (const endpoint of ['llm-usage', 'llm-usage/timeseries']) {
        const usage = await askJson<Partial<Usage>>(service, endpoint, { query });
        const calls = usage.totals?.calls ?? usage.buckets?.reduce((all, bucket) => all + bucket.calls, 0);
        expect(calls, endpoint).to.equal(records.length);
      }
    });
  }
});
