import { expect } from 'chai';
import { sendLlm, NO_USAGE } from '../support/audit.ts';
import { breakdownAt, timeOf } from '../support/breakdown.ts';
import { llmInvocation } from '../support/events.ts';
import { ask, askJson } from '../support/reads.ts';
import { useSharedService } from '../support/shared-service.ts';

describe('the breakdown of LLM usage', () => {
  const service = useSharedService();
  const tokens = (input_tokens: number, output_tokens = 0) => ({ input_tokens, output_tokens });
  const CALLS = [
    { agent_name: 'b', model: 'm1', user_id: 'u1', session_id: 's1', ...tokens(10, 1), cost_usd: 0.1 },
    { agent_name: 'a', model: 'm1', user_id: 'u1', session_id: 's1', ...tokens(20, 2), cost_usd: 0.2 },
    { agent_name: 'a', model: 'm2', user_id: 'u2', session_id: 's2', ...tokens(30), cached_input_tokens: 7 },
    { agent_name: 'a', model: 'm2', user_id: '', session_id: '', ...tokens(40), reasoning_tokens: 5 },
    { agent_name: 'é', model: 'm3', user_id: '', session_id: 's0', ...tokens(50), cost_usd: 0.25 },
  ];
  before(async () => {
    for (const [index, fields] of CALLS.entries()) {
      const call = llmInvocation({ occurred_at: timeOf(index), ...fields });
      await sendLlm(service, call);
      await sendLlm(service, { ...call, model: 'another', user_id: 'another', cost_usd: 9 });
    }
  });
  const { breakdown, row, addsUp, hasBounds, refuses } = breakdownAt(
    service,
    'llm-usage/breakdown',
    NO_USAGE,
  );

  it('has exactly the documented keys, by cost, then calls, both descending, then value in UTF-8 bytes', async () => {
    const { from, to, ...rest } = await breakdown({ by: 'session_id' });

    expect(Date.parse(to) - Date.parse(from)).to.equal(86_400_000);
    expect(rest).to.deep.equal({
      project_id: service.project_id,
      window: '24h',
      by: 'session_id',
      items: [
        row('s1', { calls: 2, ...tokens(30, 3), cost_usd: 0.3 }, [0, 1]),
        row('s0', { calls: 1, ...tokens(50), cost_usd: 0.25 }, [4, 4]),
        row('', { calls: 1, ...tokens(40), reasoning_tokens: 5 }, [3, 3]),
        row('s2', { calls: 1, ...tokens(30), cached_input_tokens: 7 }, [2, 2]),
      ],
      others: null,
    });
  });

  addsUp(
    {
      model: ['m1', 'm3', 'm2'],
      agent: ['é', 'a', 'b'],
      user_id: ['u1', '', 'u2'],
      session_id: ['s1', 's0', '', 's2'],
    },
    async () => (await askJson<{ totals: typeof NO_USAGE }>(service, 'llm-usage')).totals,
  );

  it('takes filters and a range', async () => {
    const { items, window, others } = await breakdown(
      `by=model&agent=a&not.user_id=u2&from=${timeOf(1)}&to=${timeOf(4)}`,
    );

    expect([window, others]).to.deep.equal([null, null]);
    expect(items).to.deep.equal([
      row('m1', { calls: 1, ...tokens(20, 2), cost_usd: 0.2 }, [1, 1]),
      row('m2', { calls: 1, ...tokens(40), reasoning_tokens: 5 }, [3, 3]),
    ]);
  });

  it('adds up exactly beyond 2^53, in the list and in what it leaves out', async () => {
    const size = Number.MAX_SAFE_INTEGER;
    for (const user_id of ['u1', 'u1', 'u1', 'u2', 'u2', 'u2'])
      await sendLlm(service, llmInvocation({ agent_name: 'huge', user_id, ...tokens(size) }));
    const query = { by: 'user_id', agent: 'huge', limit: '1' };
    const { text } = await ask(service, 'llm-usage/breakdown', { query });

    const sums = `"calls":3,"input_tokens":${BigInt(size) * 3n},"output_tokens":0,`;
    expect(text).to.include(`"value":"u1",${sums}`);
    expect(text).to.include(`"entries":1,${sums}`);
  });

  hasBounds((session_id) => sendLlm(service, llmInvocation({ agent_name: 'many', session_id })), {
    ...NO_USAGE,
    calls: 1,
    ...tokens(100, 20),
  });

  refuses(['', 'by=', 'by=agent_name', 'by=tool', 'by=model&limit=0', 'by=model&limit=1001']);
});
