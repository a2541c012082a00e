import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import { sendLlm, timeFromNow } from '../support/audit.ts';
import { llmInvocation } from '../support/events.ts';
import { askJson, type CursorPage, refusal } from '../support/reads.ts';
import { useSharedService } from '../support/shared-service.ts';
import { DAY_MS, MINUTE_MS } from '../../server/durations.ts';

type Page = CursorPage & { project_id: string; window: string | null; from: string; to: string };

describe('the model calls', () => {
  const service = useSharedService();
  const atSame = timeFromNow(-60 * MINUTE_MS);
  const full = {
    event_id: 'aaaaaaaa-0000-4000-8000-000000000000',
    occurred_at: timeFromNow(-MINUTE_MS),
    agent_name: 'a',
    model: 'm1',
    provider: 'acme',
    operation: 'embeddings',
    input_tokens: Number.MAX_SAFE_INTEGER,
    output_tokens: 0,
    cached_input_tokens: 3,
    reasoning_tokens: 4,
    duration_ms: 1234,
    cost_usd: 0.1,
    finish_reason: 'stop',
    error_type: 'timeout',
    role: 'admin',
    user_id: 'u1',
    session_id: "s'1",
  };
  // ClickHouse's own order of UUIDs starts with their second half; as text, the order is different.
  const ids = [
    '1fffffff-0000-4000-8000-000000000000',
    '20000000-0000-4000-b000-000000000000',
    '30000000-0000-4000-9fff-000000000000',
  ];
  const calls = [
    full,
    ...ids.map((event_id) => llmInvocation({ event_id, occurred_at: atSame, agent_name: 'b', model: 'm2' })),
    llmInvocation({ occurred_at: timeFromNow(-3 * DAY_MS), agent_name: 'b', user_id: 'u1', role: 'admin' }),
  ];
  const newestFirst = [0, 3, 2, 1, 4].map((index) => String(calls[index]?.['event_id']));
  before(async () => {
    for (const call of calls) {
      await sendLlm(service, call);
      await sendLlm(service, { ...call, model: 'another', user_id: 'another', cost_usd: 9 });
    }
  });
  const list = (query: Record<string, string> | string) =>
    askJson<Page>(service, 'llm-invocations', { query });
  const idsOf = ({ items }: CursorPage) => items.map(({ event_id }) => String(event_id));

  it('have exactly the documented keys, as they were first sent', async () => {
    const { from, to, items, ...rest } = await list({ limit: '2' });

    expect(Date.parse(to) - Date.parse(from)).to.equal(DAY_MS);
    const scope = { project_id: service.project_id, window: '24h' };
    expect(rest).to.include({ ...scope, total: 4, limit: 2, offset: 0 });
    expect(rest).to.have.all.keys(...Object.keys(scope), 'total', 'limit', 'offset', 'next_cursor');
    const [first, second] = items;
    const { received_at, ...sent } = first ?? {};
    expect(sent).to.deep.equal({ ...full, project_id: service.project_id });
    expect(Math.abs(Date.now() - Date.parse(String(received_at)))).to.be.below(MINUTE_MS);
    const absent = { provider: '', operation: 'chat', duration_ms: 0, cost_usd: null, finish_reason: '' };
    expect(second).to.include({ ...absent, cached_input_tokens: 0, role: '', error_type: '' });
  });

  it('are sorted newest first, then by event_id as text, on pages of any length', async () => {
    for (const limit of [1, 2, 3, 4, 5, 500]) {
      const found: string[] = [];
      let cursor: string | null | undefined;
      while (cursor !== null) {
        const page: Page = await list({
          window: '7d',
          limit: String(limit),
          ...(cursor === undefined ? {} : { cursor }),
        });
        expect(page.total).to.equal(5);
        found.push(...idsOf(page));
        cursor = page.next_cursor;
      }
      expect(found, `limit ${limit}`).to.deep.equal(newestFirst);
      const offset = await list({ window: '7d', limit: String(limit), offset: '2' });
      expect(idsOf(offset)).to.deep.equal(newestFirst.slice(2, 2 + limit));
    }
  });

  const FILTERED: [string, number[]][] = [
    ['agent=a', [0]],
    ['agent=a&agent=b&model=m2', [1, 2, 3]],
    ['not.model=m2', [0, 4]],
    ['model=model-1', [4]],
    ['role=', [1, 2, 3]],
    ['not.role=admin&not.role=x', [1, 2, 3]],
    ['user_id=u1&not.agent=a', [4]],
    ["session_id=s'1", [0]],
    ['not.session_id=', [0]],
    ['model=another', []],
    // Not fields of a model call.
    ['tool=none&outcome=none&q=none', [0, 1, 2, 3, 4]],
  ];
  for (const [query, indexes] of FILTERED)
    it(`with ${query} are those that match`, async () => {
      const page = await list(`window=7d&${query}`);
      expect(idsOf(page)).to.have.members(indexes.map((index) => String(calls[index]?.['event_id'])));
      expect(page.total).to.equal(indexes.length);
    });

  it('of a range begin with its start and end before its end', async () => {
    const to = new Date(Date.parse(atSame) + 1).toISOString();
    for (const [query, count] of [
      [`from=${atSame}&to=${to}`, 3],
      [`from=${timeFromNow(-2 * DAY_MS)}&to=${atSame}`, 0],
    ] as const) {
      const page = await list(query);
      expect([page.window, page.total, page.items.length]).to.deep.equal([null, count, count]);
    }
  });

  it('of an unknown project are none', async () => {
    const page = await askJson<Page>(service, 'llm-invocations', { projectId: randomUUID() });
    expect([page.total, page.items, page.next_cursor]).to.deep.equal([0, [], null]);
  });

  for (const query of ['limit=0', 'limit=501', 'offset=10001', 'cursor=zzz', 'limit=1&limit=1', 'window=1h'])
    it(`with ${query} are 422`, async () => {
      const code = query.startsWith('window') ? 'window_invalid' : 'query_invalid';
      expect(await refusal(service, 'llm-invocations', { query })).to.deep.equal([422, code]);
    });
});
