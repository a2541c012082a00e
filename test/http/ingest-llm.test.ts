import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import {
  accepted,
  invalid,
  outcomeOf,
  readSummary,
  sendDecision,
  sendLlm,
  tally,
  timeFromNow,
} from '../support/audit.ts';
import { batchOutcome, sendBatch } from '../support/batch.ts';
import { decisionEvent, llmInvocation } from '../support/events.ts';
import { runOnStore } from '../support/engine.ts';
import { startTestService } from '../support/service.ts';
import { sharedService, useSharedService } from '../support/shared-service.ts';
import { usageOf } from '../support/snapshot.ts';
import { DAY_MS, MINUTE_MS } from '../../server/durations.ts';

const POINTS_MAX = {
  agent_name: 200,
  model: 200,
  provider: 100,
  operation: 100,
  finish_reason: 100,
  error_type: 100,
  role: 100,
  user_id: 200,
  session_id: 200,
};
const REQUIRED = ['event_id', 'occurred_at', 'agent_name', 'model', 'input_tokens', 'output_tokens'];
const INTEGERS = ['input_tokens', 'output_tokens', 'cached_input_tokens', 'reasoning_tokens', 'duration_ms'];
const TEXTS = Object.keys(POINTS_MAX);

describe('POST /v1/audit/llm-invocations', () => {
  const service = useSharedService();

  const send = async (overrides: Record<string, unknown>) =>
    outcomeOf(await sendLlm(service, llmInvocation(overrides)));

  it('answers 202 with the event_id, folded to lower case', async () => {
    const event_id = randomUUID();

    const response = await sendLlm(service, llmInvocation({ event_id: event_id.toUpperCase() }));

    expect(response.status).to.equal(202);
    expect(await response.json()).to.deep.equal({ event_id });
  });

  it('returns 401, 400 and 422 like decisions', async () => {
    const noKey = await outcomeOf(await sendLlm(service, llmInvocation(), { key: 'x' }));
    const ahead = await send({ occurred_at: timeFromNow(5 * MINUTE_MS + 2000) });
    const old = await send({ occurred_at: timeFromNow(-90 * DAY_MS - 1) });
    const noTime = await send({ occurred_at: timeFromNow(0).replace('T', ' ') });

    const outOfRange = { status: 400, code: 'occurred_at_out_of_range' };
    expect([noKey, ahead, old, noTime]).to.deep.equal([
      { status: 401, code: 'unauthenticated' },
      outOfRange,
      outOfRange,
      invalid,
    ]);
  });

  it('answers 422 when a required field is missing', async () => {
    for (const field of REQUIRED) expect(await send({ [field]: undefined }), field).to.deep.equal(invalid);
  });

  for (const [field, value, message] of [
    ['input_tokens', '1.5', 'must be integer, not a number with a fraction'],
    ['cost_usd', '1e400', 'must be number or null, not a number that is too large'],
    ['cost_usd', '"1"', 'must be number or null, not string'],
  ] as const)
    it(`reports for ${field} ${value} that it ${message}`, async () => {
      const body = JSON.stringify(llmInvocation({ [field]: 12345 })).replace('12345', value);
      const response = await sendLlm(service, body);

      expect(await response.json()).to.deep.include({ detail: `/${field} ${message}` });
    });

  it('rejects null where a field has a default, except for cost_usd', async () => {
    for (const field of [...TEXTS, ...INTEGERS])
      expect(await send({ [field]: null }), field).to.deep.equal(invalid);
    expect(await send({ cost_usd: null })).to.deep.equal(accepted);
  });

  for (const [field, points] of Object.entries(POINTS_MAX)) {
    it(`${field} may have ${points} code points; one more is 422`, async () => {
      expect(await send({ [field]: '😀'.repeat(points) })).to.deep.equal(accepted);
      expect(await send({ [field]: '😀'.repeat(points + 1) })).to.deep.equal(invalid);
      expect(await send({ [field]: 'x'.repeat(points + 1) })).to.deep.equal(invalid);
    });
  }

  it('answers 422 to an empty agent_name or model', async () => {
    expect([await send({ agent_name: '' }), await send({ model: '' })]).to.deep.equal([invalid, invalid]);
  });

  it('answers 422 to NUL characters and lone surrogates in text', async () => {
    for (const field of TEXTS) {
      expect([await send({ [field]: 'a\0' }), await send({ [field]: '\ud800' })], field).to.deep.equal([
        invalid,
        invalid,
      ]);
    }
  });

  for (const field of INTEGERS) {
    it(`${field} is an integer from 0 to 2^53-1`, async () => {
      expect([await send({ [field]: 0 }), await send({ [field]: 2 ** 53 - 1 })]).to.deep.equal([
        accepted,
        accepted,
      ]);
      for (const value of [-1, 2 ** 53, 1.5, '1', true, [1], {}]) {
        expect(await send({ [field]: value }), JSON.stringify(value)).to.deep.equal(invalid);
      }
    });
  }

  for (const [field, value, isAccepted] of [
    ['input_tokens', '9007199254740990.7', false],
    ['output_tokens', '0.9999999999999999999999', false],
    ['duration_ms', '1e-400', false],
    ['cost_usd', '-1e-400', false],
    ['input_tokens', '15.0e2', true],
    ['output_tokens', '-0.0', true],
    ['cost_usd', '0.10000000000000000000001', true],
  ] as const)
    it(`${field} of ${value} is ${isAccepted ? 'accepted' : 'refused, although the parser rounds it to one that may be'}`, async () => {
      const body = JSON.stringify(llmInvocation({ [field]: 12345 })).replace('12345', value);

      expect(await outcomeOf(await sendLlm(service, body))).to.deep.equal(isAccepted ? accepted : invalid);
      const sent = sendBatch(service, [body], { path: '/v1/audit/llm-invocations/batch' });
      const { rejected } = await batchOutcome(sent);
      expect(rejected.map(({ code }) => code)).to.deep.equal(isAccepted ? [] : ['body_invalid']);
    });

  it('cost_usd is null or a number of 0 and more', async () => {
    for (const cost_usd of [0, 0.000001, 1e300]) expect(await send({ cost_usd })).to.deep.equal(accepted);
    for (const cost_usd of [-0.000001, '1', true, {}, []])
      expect(await send({ cost_usd }), JSON.stringify(cost_usd)).to.deep.equal(invalid);
  });

  it('returns 422 for a cost_usd beyond the largest number', async () => {
    const body = JSON.stringify(llmInvocation({ cost_usd: 7.25 })).replace('7.25', '1e400');

    expect(await outcomeOf(await sendLlm(service, body))).to.deep.equal(invalid);
  });
});

describe('50 usage reports of one event_id at once', () => {
  it('make one record, and every caller receives 202', async () => {
    const service = await sharedService();
    const report = llmInvocation();
    const variants = Array.from({ length: 50 }, (_, i) => ({
      ...report,
      model: `model-${i}`,
      input_tokens: i,
      occurred_at: timeFromNow(-i * DAY_MS),
    }));

    const outcomes = await Promise.all(variants.map((body) => sendLlm(service, body)));
    const usage = await usageOf(service, service.project_id);
    await sendLlm(service, { ...report, model: 'late' });
    const after = await usageOf(service, service.project_id);

    const [winner] = usage.by_model as { model: string; calls: number; input_tokens: number }[];
    expect(tally(outcomes)).to.deep.equal({ '202': 50 });
    expect(usage.totals).to.include({ calls: 1, input_tokens: winner?.input_tokens, output_tokens: 20 });
    expect(winner?.model).to.equal(`model-${winner?.input_tokens}`);
    expect(after).to.deep.equal(usage);
  });
});

describe('a usage report in the store', () => {
  it('is one row in its own table, the first of its event_id, even if a decision has that event_id', async () => {
    const service = await startTestService();
    const whole = llmInvocation({
      provider: 'acme',
      operation: 'embeddings',
      input_tokens: 2 ** 53 - 1,
      cached_input_tokens: 7,
      reasoning_tokens: 8,
      duration_ms: 9,
      cost_usd: 0.125,
      finish_reason: 'stop',
      error_type: 'timeout',
      role: 'editor',
      user_id: 'u',
      session_id: 's',
      project_id: 'someone-else',
    });
    const least = llmInvocation({ agent_name: 'least' });
    const otherDay = { ...whole, occurred_at: timeFromNow(-2 * DAY_MS), agent_name: 'later', model: 'later' };

    const outcomes = [];
    for (const body of [whole, least, otherDay]) outcomes.push(await outcomeOf(await sendLlm(service, body)));
    outcomes.push(
      await outcomeOf(await sendDecision(service, decisionEvent({ event_id: whole['event_id'] }))),
    );
    const { totals } = await readSummary(service, { window: '90d' });
    await service.stop();

    expect(outcomes).to.deep.equal([accepted, accepted, accepted, accepted]);
    expect(totals.total).to.equal(1);
    const rows = await runOnStore<Record<string, unknown>>(
      service.dataDir,
      `SELECT * EXCEPT (occurred_at, received_at, version, emitter, sequence, dropped),
         toUnixTimestamp64Milli(occurred_at) AS occurred_ms, received_at > now() - 60 AS is_stamped
       FROM llm_invocations ORDER BY agent_name DESC SETTINGS output_format_json_quote_64bit_integers = 0`,
    );
    const server = { project_id: service.project_id, agent_version_id: '', is_stamped: 1 };
    const defaults = {
      provider: '',
      operation: 'chat',
      cached_input_tokens: 0,
      reasoning_tokens: 0,
      duration_ms: 0,
      cost_usd: null,
      finish_reason: '',
      error_type: '',
      role: '',
      user_id: '',
      session_id: '',
    };
    const stored = [whole, { ...defaults, ...least }].map(({ occurred_at, ...rest }) => ({
      ...rest,
      ...server,
      occurred_ms: Date.parse(String(occurred_at)),
    }));
    expect(rows).to.deep.equal(stored);
  });
});
