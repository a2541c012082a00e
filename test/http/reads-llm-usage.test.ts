import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import { sendLlm, timeFromNow, NO_USAGE } from '../support/audit.ts';
import { llmInvocation } from '../support/events.ts';
import { ask, askJson } from '../support/reads.ts';
import { useSharedService } from '../support/shared-service.ts';
import { DAY_MS } from '../../server/durations.ts';

const SAFE_MAX = Number.MAX_SAFE_INTEGER;
type Usage = { project_id: string; window: string; from: string; to: string; totals: typeof NO_USAGE };

describe('the LLM usage', () => {
  const service = useSharedService();
  before(async () => {
    const calls = [
      { model: 'm1', agent_name: 'a', input_tokens: 10, output_tokens: 1, cost_usd: 0.1 },
      {
        model: 'm1',
        agent_name: 'b',
        input_tokens: 20,
        output_tokens: 2,
        cost_usd: 0.2,
        reasoning_tokens: 5,
      },
      { model: 'm2', agent_name: 'a', input_tokens: 30, output_tokens: 3, cached_input_tokens: 7 },
      {
        model: 'm2',
        agent_name: 'a',
        input_tokens: 1,
        output_tokens: 1,
        occurred_at: timeFromNow(-2 * DAY_MS),
      },
    ];
    for (const call of calls) {
      const event = llmInvocation(call);
      await sendLlm(service, event);
      await sendLlm(service, { ...event, input_tokens: 1000, model: 'another' });
    }
  });

  it('has the totals and the same by model and by agent, each by calls descending, then name', async () => {
    const { from, to, ...rest } = await askJson<Usage>(service, 'llm-usage');

    expect(Date.parse(to) - Date.parse(from)).to.equal(DAY_MS);
    const sum = (values: Partial<typeof NO_USAGE>) => ({ ...NO_USAGE, ...values });
    expect(rest).to.deep.equal({
      project_id: service.project_id,
      window: '24h',
      totals: {
        calls: 3,
        input_tokens: 60,
        output_tokens: 6,
        cached_input_tokens: 7,
        reasoning_tokens: 5,
        cost_usd: 0.3,
      },
      by_model: [
        {
          model: 'm1',
          ...sum({ calls: 2, input_tokens: 30, output_tokens: 3, reasoning_tokens: 5, cost_usd: 0.3 }),
        },
        { model: 'm2', ...sum({ calls: 1, input_tokens: 30, output_tokens: 3, cached_input_tokens: 7 }) },
      ],
      by_agent: [
        {
          agent_name: 'a',
          ...sum({ calls: 2, input_tokens: 40, output_tokens: 4, cached_input_tokens: 7, cost_usd: 0.1 }),
        },
        {
          agent_name: 'b',
          ...sum({ calls: 1, input_tokens: 20, output_tokens: 2, reasoning_tokens: 5, cost_usd: 0.2 }),
        },
      ],
    });
  });

  it('covers the window', async () => {
    const { totals } = await askJson<Usage>(service, 'llm-usage', { query: { window: '7d' } });

    expect([totals.calls, totals.input_tokens]).to.deep.equal([4, 61]);
  });

  it('adds up exactly beyond 2^53', async () => {
    const call = { model: 'huge', agent_name: 'huge', input_tokens: SAFE_MAX, output_tokens: 0 };
    for (let i = 0; i < 3; i += 1) await sendLlm(service, llmInvocation(call));

    const { text } = await ask(service, 'llm-usage');

    expect(text).to.include(`"model":"huge","calls":3,"input_tokens":${BigInt(SAFE_MAX) * 3n},`);
  });

  it('of an unknown project is zeros', async () => {
    const answer = await askJson<Usage>(service, 'llm-usage', { projectId: randomUUID() });

    const { totals, by_model, by_agent } = answer as Usage & { by_model: unknown; by_agent: unknown };
    expect({ totals, by_model, by_agent }).to.deep.equal({ totals: NO_USAGE, by_model: [], by_agent: [] });
  });

  it('returns 422 for an unknown window', async () => {
    for (const window of ['', '1d', '24H'])
      expect((await ask(service, 'llm-usage', { query: { window } })).status).to.equal(422);
  });
});
