import { expect } from 'chai';
import { sendDecision, sendLlm, timeFromNow } from '../support/audit.ts';
import { decisionEvent, llmInvocation } from '../support/events.ts';
import { ask, type Problem } from '../support/reads.ts';
import { useSharedService } from '../support/shared-service.ts';
import { DAY_MS } from '../../server/durations.ts';

const FILTERS = ['agent', 'role', 'outcome', 'tool', 'user_id', 'session_id', 'reason'];
const RANGE = ['window', 'from', 'to'];
/** The parameters that may be given once, and the filters, which may be repeated. */
const NAMES: Record<string, { once: string[]; filters: string[] }> = {
  summary: { once: RANGE, filters: FILTERS },
  timeseries: { once: RANGE, filters: FILTERS },
  'llm-usage': { once: RANGE, filters: ['agent', 'user_id', 'session_id'] },
  'llm-usage/timeseries': { once: RANGE, filters: ['agent', 'user_id', 'session_id'] },
  decisions: { once: [...RANGE, 'limit', 'offset', 'cursor'], filters: FILTERS },
  'llm-invocations': {
    once: [...RANGE, 'limit', 'offset', 'cursor'],
    filters: ['agent', 'model', 'role', 'user_id', 'session_id'],
  },
  'decisions/export': { once: [...RANGE, 'format'], filters: FILTERS },
};
const EARLY = '2026-01-01T00:00:00Z';
const LATE = '2026-01-02T00:00:00Z';
/** Values that try to break out of their place in a statement. */
const HOSTILE = [
  "' OR 1=1 --",
  "'; DROP TABLE decisions; --",
  "\\'; DROP TABLE decisions; --",
  "') UNION ALL SELECT * FROM api_keys --",
  '{project_id: String}',
  '%27%20OR%201=1',
  '\\N',
  '$(id)',
  '`decisions`',
  '"; SELECT 1',
  '\t\r\n',
  '日本\u202e😀',
  'x'.repeat(8000),
];

describe('a bad parameter of a read', () => {
  const service = useSharedService();
  before(async () => {
    await sendDecision(service, decisionEvent());
    await sendDecision(service, decisionEvent({ occurred_at: timeFromNow(-2 * DAY_MS) }));
    await sendLlm(service, llmInvocation());
  });

  async function problem(endpoint: string, query: string): Promise<Problem> {
    const { status, text, headers } = await ask(service, endpoint, { query });
    expect([status, headers.get('content-type')], `${endpoint}?${query}`).to.deep.equal([
      422,
      'application/problem+json',
    ]);
    return JSON.parse(text) as Problem;
  }

  const CASES: [string, string, string, string][] = [
    ['summary', 'window=1h', '1h', '24h, 7d, 30d, 90d'],
    ['timeseries', 'window=', '""', '24h, 7d, 30d, 90d'],
    ['llm-usage', 'window=90D', '90D', '24h, 7d, 30d, 90d'],
    ['decisions', 'limit=501', '501', 'from 1 to 500'],
    ['decisions', 'limit=0', '"0"', 'from 1 to 500'],
    ['decisions', 'limit=', '""', 'from 1 to 500'],
    ['decisions', 'offset=10001', '10001', 'from 0 to 10000'],
    ['decisions', 'offset=', '""', 'from 0 to 10000'],
    ['decisions', 'outcome=maybe', 'maybe', 'allow, deny, needs_approval'],
    ['decisions', 'outcome=', '""', 'allow, deny, needs_approval'],
    ['decisions', 'cursor=zzz', 'zzz', 'next_cursor'],
    ['summary', 'from=today', 'today', 'RFC 3339'],
    ['timeseries', 'to=2026-01-01', '2026-01-01', 'with a zone'],
    ['summary', 'outcome=maybe', 'maybe', 'allow, deny, needs_approval'],
    ['timeseries', 'not.outcome=', '""', 'allow, deny, needs_approval'],
    ['decisions/export', 'format=xlsx', 'xlsx', 'ndjson, csv'],
    ['decisions/export', 'format=', '""', 'ndjson, csv'],
    ['decisions/export', 'outcome=DENY', 'DENY', 'allow, deny, needs_approval'],
    ['decisions/export', 'window=all', 'all', '24h, 7d, 30d, 90d'],
  ];
  for (const [endpoint, query, came, allowed] of CASES) {
    it(`${endpoint}?${query} is 422 with the name, the value and what is allowed`, async () => {
      const { errors, code, status } = await problem(endpoint, query);

      const name = query.slice(0, query.indexOf('='));
      const expected = RANGE.includes(name) ? 'window_invalid' : 'query_invalid';
      expect([code, status]).to.deep.equal([expected, 422]);
      expect(errors?.length).to.equal(1);
      expect(errors?.[0]?.path).to.equal(name);
      expect(errors?.[0]?.message).to.include(came);
      expect(errors?.[0]?.message).to.include(allowed);
    });
  }

  const NUMBERS = ['', '-1', '1.5', '1e2', '0x10', 'abc', '+1', ' 1', '1 ', '9'.repeat(30), '١', 'NaN'];
  const WINDOWS = ['', '24H', '1h', '90', '91d', ' 7d', '24h,7d', '__proto__', 'constructor', '\0'];
  const WRONG: [string, string, string[]][] = [
    ['summary', 'window', WINDOWS],
    ['decisions', 'window', WINDOWS],
    ['decisions', 'limit', ['0', '501', ...NUMBERS]],
    ['decisions', 'offset', ['10001', ...NUMBERS]],
    ['decisions', 'outcome', ['', 'Allow', 'all', '1', 'allow,deny']],
  ];
  for (const [endpoint, name, values] of WRONG) {
    it(`${endpoint} answers 422 to any other ${name}`, async () => {
      const expected = name === 'window' ? 'window_invalid' : 'query_invalid';
      for (const value of values) {
        const { code } = await problem(endpoint, new URLSearchParams({ [name]: value }).toString());
        expect(code, value).to.equal(expected);
      }
    });
  }

  const RANGES: [Record<string, string>, string][] = [
    [{ from: EARLY }, 'to'],
    [{ to: LATE }, 'from'],
    [{ from: EARLY, to: LATE, window: '24h' }, 'window'],
    [{ from: EARLY, window: '7d' }, 'window'],
    [{ from: LATE, to: EARLY }, 'to'],
    [{ from: EARLY, to: EARLY }, 'to'],
    [{ from: EARLY, to: '2026-01-01T00:00:00.0009Z' }, 'to'],
    [{ from: EARLY, to: '2026-04-01T00:00:00.001Z' }, 'to'],
    [{ from: '2026-01-01 00:00:00Z', to: LATE }, 'from'],
    [{ from: '', to: LATE }, 'from'],
    [{ from: EARLY, to: '1767312000' }, 'to'],
  ];
  for (const [query, path] of RANGES) {
    it(`of a range is 422 and named: ${new URLSearchParams(query).toString()}`, async () => {
      for (const endpoint of Object.keys(NAMES)) {
        const { code, errors } = await problem(endpoint, new URLSearchParams(query).toString());
        expect([code, errors?.[0]?.path], endpoint).to.deep.equal(['window_invalid', path]);
      }
    });
  }

  it('is 422 when it is not a filter and repeated', async () => {
    for (const [endpoint, { once }] of Object.entries(NAMES)) {
      for (const name of once) {
        const { errors } = await problem(endpoint, `${name}=7d&x=1&${name}=7d`);
        expect(errors?.[0]?.path).to.equal(name);
        expect(errors?.[0]?.message).to.match(/given 2 times; give it once/);
      }
    }
  });

  it('is 422 when it is a filter with more than 20 values, and not with 20', async () => {
    const longest = encodeURIComponent('😀'.repeat(200));
    const times = (name: string, count: number) =>
      Array.from({ length: count }, () => `${name}=${name.endsWith('outcome') ? 'deny' : longest}`).join('&');
    for (const [endpoint, { filters }] of Object.entries(NAMES)) {
      for (const name of filters.flatMap((filter) => [filter, `not.${filter}`])) {
        const { errors } = await problem(endpoint, times(name, 21));
        expect(errors?.[0]?.path).to.equal(name);
        expect(errors?.[0]?.message).to.equal('is given 21 times; give it at most 20 times');
        expect((await ask(service, endpoint, { query: times(name, 20) })).status).to.equal(200);
      }
    }
  });

  it('is not repeated in the error if it may be a secret', async () => {
    const { key } = service;
    const [, , signature = ''] = key.split('.');
    for (const query of [`window=${key}`, `limit=${signature}`, `cursor=${key}`, `from=${key}&to=${LATE}`]) {
      const { detail } = await problem('decisions', query);
      expect(detail, query).not.to.contain(signature.slice(0, 20)).and.not.to.contain(key.slice(0, 20));
    }
  });

  it('is 422 when it is required and missing', async () => {
    for (const endpoint of ['breakdown', 'llm-usage/breakdown'])
      expect((await problem(endpoint, 'window=24h')).errors).to.deep.equal([
        { path: 'by', message: 'is required' },
      ]);
  });

  it('is ignored when its name is unknown, even if repeated', async () => {
    for (const endpoint of Object.keys(NAMES)) {
      // In the simple query syntax `window[]` is another, unknown name.
      const query = 'unknown=1&unknown=2&__proto__=1&constructor=2&window[]=7d&window[]=24h';
      expect((await ask(service, endpoint, { query })).status, endpoint).to.equal(200);
    }
  });

  it('never becomes part of a statement: hostile values match nothing', async function () {
    // Hundreds of reads.
    this.timeout(180_000);
    const texts = FILTERS.filter((name) => name !== 'outcome');
    for (const value of HOSTILE) {
      for (const name of texts) {
        const { status, text } = await ask(service, 'decisions', { query: { [name]: value } });
        expect([status, (JSON.parse(text) as { total: number }).total], name).to.deep.equal([200, 0]);
        const none = { [`not.${name}`]: value };
        const others = await ask(service, 'decisions', { query: none });
        expect([others.status, (JSON.parse(others.text) as { total: number }).total], name).to.deep.equal([
          200, 1,
        ]);
        const lines = await ask(service, 'decisions/export', { query: { [name]: value } });
        expect([lines.status, lines.text], name).to.deep.equal([200, '']);
      }
      for (const endpoint of ['summary', 'timeseries', 'llm-usage', 'llm-invocations', 'decisions']) {
        const projectId = value.slice(0, 500);
        const { status, text } = await ask(service, endpoint, { projectId });
        expect([status, (JSON.parse(text) as Problem & { project_id: string }).project_id]).to.deep.equal([
          200,
          projectId,
        ]);
      }
      for (const name of ['window', 'outcome', 'limit', 'offset', 'cursor'])
        expect((await ask(service, 'decisions', { query: { [name]: value } })).status).to.equal(422);
    }
    const { text } = await ask(service, 'summary', { query: { window: '7d' } });
    expect((JSON.parse(text) as { totals: { total: number } }).totals.total).to.equal(2);
  });

  it('is 422 and named when its percent-encoding is not UTF-8, and read unchanged when it is', async () => {
    for (const bytes of ['%FF', 'a%C3', '%ED%A0%80', '%C0%80', '%ff%zz']) {
      for (const name of [...FILTERS, 'not.agent', 'q', 'cursor', 'window']) {
        const { code, errors } = await problem('decisions', `x=%FF&${name}=${bytes}`);
        const expected = name === 'window' ? 'window_invalid' : 'query_invalid';
        expect([code, errors?.[0]?.path], bytes).to.deep.equal([expected, name]);
        expect(errors?.[0]?.message).to.equal('is not percent-encoded UTF-8');
      }
    }
    for (const value of ['%EF%BF%BD', '%C3%A4', '100%', '%zz', '%C3%A4+b'])
      expect((await ask(service, 'decisions', { query: `x=%FF&q=${value}` })).status, value).to.equal(200);
  });

  it('with a NUL character is 422', async () => {
    for (const name of FILTERS)
      for (const query of [`${name}=a%00b`, `not.${name}=deny&not.${name}=a%00b`])
        await problem('decisions', query);
  });
});
