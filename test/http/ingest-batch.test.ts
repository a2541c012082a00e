import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { invalid, readAllDecisions, sendDecision, sendLlm, timeFromNow } from '../support/audit.ts';
import { batchOutcome, linesOf, sendBatch, withoutDetail } from '../support/batch.ts';
import { decisionEvent, llmInvocation } from '../support/events.ts';
import { issue } from '../support/keys.ts';
import { askJson } from '../support/reads.ts';
import { codeOf, exchange, head } from '../support/raw-http.ts';
import { useSharedService } from '../support/shared-service.ts';
import { DAY_MS } from '../../server/durations.ts';

const MIB = 1024 * 1024;
const ARRAY = { type: 'application/json' };
const GZIP = { headers: { 'Content-Encoding': 'gzip' } };
const ZSTD = { headers: { 'Content-Encoding': 'zstd' } };
const tooLarge = { status: 413, code: 'batch_too_large' };
const none = { status: 202, accepted: 0, duplicates: 0, rejected: [] };

const eventsOf = (count: number, more: Record<string, unknown> = {}) =>
  Array.from({ length: count }, () => decisionEvent(more));
const idsOf = (events: Record<string, unknown>[]) => events.map(({ event_id }) => event_id);

describe('POST /v1/audit/decisions/batch', () => {
  const service = useSharedService();

  const send = (...args: Parameters<typeof sendBatch> extends [unknown, ...infer R] ? R : never) =>
    batchOutcome(sendBatch(service, ...args));
  const stored = async (agent: string) => idsOf(await readAllDecisions(service, agent));
  /** The status and code of a batch of which nothing is written. */
  const refusal = async (...args: Parameters<typeof send>) => {
    const { status, code } = await send(...args);
    return { status, code };
  };

  it('takes JSON lines: blank lines, CRLF, and a last line with or without its newline', async () => {
    const agent_name = randomUUID();
    const events = eventsOf(6, { agent_name });
    const [a, b, c, d, e, f] = events.map((event) => JSON.stringify(event));

    const first = await send(`\n \t\r\n${a}\n\n${b}\r\n\r\n  ${c}  \n${d}`);
    const second = await send(`${e}\n${f}\n`);

    expect(first).to.deep.equal({ ...none, accepted: 4 });
    expect(second).to.deep.equal({ ...none, accepted: 2 });
    expect(await stored(agent_name)).to.have.members(idsOf(events));
  });

  it('takes a JSON array, with white space anywhere between its parts', async () => {
    const agent_name = randomUUID();
    const events = eventsOf(3, { agent_name, arguments: { text: '[{,"]\\}' } });
    const [a, b, c] = events.map((event) => JSON.stringify(event, undefined, '\t'));

    const result = await send(`\r\n[ \t${a} ,\n${b},${c}\n] \n`, { type: 'application/json; charset=utf-8' });

    expect(result).to.deep.equal({ ...none, accepted: 3 });
    expect(await stored(agent_name)).to.have.members(idsOf(events));
  });

  it('judges each event separately, and rejects in the order and by the index of events', async () => {
    const agent_name = randomUUID();
    const [good, alsoGood] = eventsOf(2, { agent_name });
    const upper = randomUUID().toUpperCase();
    const bad = [
      decisionEvent({ event_id: upper, outcome: 'maybe' }),
      'nonsense',
      decisionEvent({ event_id: 'none', tool_name: '' }),
      decisionEvent({ occurred_at: timeFromNow(-91 * DAY_MS), arguments: { a: 'x'.repeat(8192) } }),
      decisionEvent({ arguments: { a: 'x'.repeat(8192) } }),
      '[]',
      decisionEvent({ hint: { a: 'x'.repeat(4096) } }),
      'null',
    ];

    const { rejected, ...counts } = await send([good, '', ...bad.slice(0, 4), '', alsoGood, ...bad.slice(4)]);

    expect(counts).to.deep.equal({ status: 207, accepted: 2, duplicates: 0 });
    const ids = bad.map((event) => (typeof event === 'string' ? null : event['event_id']));
    expect(
      rejected.map(({ index, event_id, status, code }) => [index, event_id, status, code]),
    ).to.deep.equal([
      [1, upper.toLowerCase(), 422, 'body_invalid'],
      [2, null, 422, 'body_invalid'],
      [3, null, 422, 'body_invalid'],
      [4, ids[3], 400, 'occurred_at_out_of_range'],
      [6, ids[4], 413, 'arguments_too_large'],
      [7, null, 422, 'body_invalid'],
      [8, ids[6], 413, 'hint_too_large'],
      [9, null, 422, 'body_invalid'],
    ]);
    expect(rejected[0]?.detail).to.equal('/outcome must be one of allow, deny, needs_approval');
    expect(rejected[0]?.errors).to.deep.equal([
      { path: '/outcome', message: 'must be one of allow, deny, needs_approval' },
    ]);
    expect(rejected.filter(({ detail }) => detail === '')).to.deep.equal([]);
    expect(await stored(agent_name)).to.have.members(idsOf([good ?? {}, alsoGood ?? {}]));
  });

  it('is 207 when every event is rejected', async () => {
    const { status, accepted, rejected } = await send(['{}', '1']);

    expect([status, accepted, rejected.length]).to.deep.equal([207, 0, 2]);
  });

  it('keeps the first of two events with one identity, in a batch, across batches and among single events', async () => {
    const agent_name = randomUUID();
    const [first, other] = eventsOf(2, { agent_name, reason: 'first' });
    const later = { ...first, reason: 'later' };
    const invalid = { ...other, outcome: '' };

    const within = await send([
      first,
      later,
      { ...later, event_id: String(first?.['event_id']).toUpperCase() },
      invalid,
      other,
    ]);
    const across = await send([later, other]);
    const single = (await sendDecision(service, later)).status;

    expect([within.status, within.accepted, within.duplicates]).to.deep.equal([207, 2, 2]);
    expect(within.rejected.map(({ index }) => index)).to.deep.equal([3]);
    expect(across).to.deep.equal({ ...none, duplicates: 2 });
    expect(single).to.equal(202);
    const records = await readAllDecisions(service, agent_name);
    expect(records.map(({ event_id, reason }) => [event_id, reason])).to.have.deep.members([
      [first?.['event_id'], 'first'],
      [other?.['event_id'], 'first'],
    ]);
  });

  it('sent several times at once, and together with its single events, is stored once and accepted once', async () => {
    const agent_name = randomUUID();
    const events = eventsOf(300, { agent_name });

    const [batches] = await Promise.all([
      Promise.all([events, events, events.toReversed(), events.slice(100)].map((batch) => send(batch))),
      Promise.all(events.slice(0, 40).map((event) => sendDecision(service, event))),
    ]);

    expect(batches.map(({ status }) => status)).to.deep.equal([202, 202, 202, 202]);
    const sum = (field: 'accepted' | 'duplicates') => batches.reduce((all, one) => all + one[field], 0);
    expect(sum('accepted')).to.be.within(260, 300);
    expect(sum('accepted') + sum('duplicates')).to.equal(1100);
    const ids = await stored(agent_name);
    expect([ids.length, new Set(ids).size]).to.deep.equal([300, 300]);
    expect(ids).to.have.members(idsOf(events));
  });

  it('without events is 422', async () => {
    for (const body of ['', '\n\r\n \t\n']) expect(await refusal(body)).to.deep.equal(invalid);
    for (const body of ['', ' ', '[]', '[ \n ]'])
      expect(await refusal(body, ARRAY), body).to.deep.equal(invalid);
  });

  it('that is neither JSON lines nor an array is 422, and nothing of it is written', async () => {
    const agent_name = randomUUID();
    const event = JSON.stringify(decisionEvent({ agent_name }));
    const wrong = [
      '',
      '[',
      '[EVENT',
      '[EVENT,',
      '[EVENT,]',
      '[,EVENT]',
      '[EVENT EVENT]',
      '[EVENT]]',
      '[EVENT],',
      '[[EVENT]',
      'EVENT',
      '"a"',
      'EVENT,EVENT',
      '[EVENT}',
      '[EVENT, x]',
      '\ufeff[EVENT]',
      '[EVENT,"\\x"]',
      '[EVENT,{]]',
      '[EVENT]\n[EVENT]',
      '[EVENT,{"a":1]}',
    ];
    for (const shape of wrong)
      expect(await refusal(shape.replaceAll('EVENT', event), ARRAY), shape).to.deep.equal(invalid);
    const notUtf8 = Buffer.concat([Buffer.from(`[${event},"`), Buffer.from([0xc3]), Buffer.from('"]')]);
    expect(await refusal(notUtf8, ARRAY)).to.deep.equal(invalid);
    for (const type of ['text/plain', 'application/ndjson', 'application/x-ndjson; charset=latin1', ''])
      expect(await refusal(event, { type }), type).to.deep.equal(invalid);
    for (const encoding of ['br', 'deflate', 'gzip, gzip', 'gzip', 'zstd'])
      expect(await refusal(event, { headers: { 'Content-Encoding': encoding } }), encoding).to.deep.equal(
        invalid,
      );
    const half = (whole: Buffer) => whole.subarray(0, whole.length - 12);
    expect(await refusal(half(gzipSync(event)), GZIP)).to.deep.equal(invalid);
    expect(await refusal(half(zstdCompressSync(event)), ZSTD)).to.deep.equal(invalid);
    expect(await stored(agent_name)).to.deep.equal([]);
  });

  it('takes every member of gzip and every frame of zstd, and refuses other bytes after them', async () => {
    const lines = eventsOf(4).map((event) => `${JSON.stringify(event)}\n`);
    for (const [encoding, compress] of Object.entries({ gzip: gzipSync, zstd: zstdCompressSync })) {
      const agent_name = randomUUID();
      const events = eventsOf(4, { agent_name });
      const parts = events.map((event) => compress(`${JSON.stringify(event)}\n`));
      const headers = { 'Content-Encoding': encoding };

      expect(await send(Buffer.concat(parts), { headers })).to.deep.equal({ ...none, accepted: 4 });
      expect(await stored(agent_name)).to.have.members(idsOf(events));

      for (const rest of ['x'.repeat(20), parts[0]?.subarray(0, -2) ?? '']) {
        const body = Buffer.concat([...lines.map((line) => compress(line)), Buffer.from(rest)]);
        expect(await refusal(body, { headers })).to.deep.equal(invalid);
      }
    }
    const frame = zstdCompressSync('\n');
    const frames = Buffer.concat(Array.from({ length: 5000 }, () => frame));
    expect(await refusal(frames, ZSTD)).to.deep.equal(invalid);
    expect(await send(lines.join(''))).to.deep.equal({ ...none, accepted: 4 });
  });

  it('rejects only a line that is not UTF-8, and keeps a replacement character that was sent', async () => {
    const agent_name = randomUUID();
    const good = decisionEvent({ agent_name, reason: '\ufffd é 😀' });
    const bad = Buffer.from(JSON.stringify(decisionEvent({ agent_name, reason: 'é' })), 'latin1');

    const { accepted, rejected } = await send(Buffer.concat([bad, Buffer.from(`\n${JSON.stringify(good)}`)]));

    expect([accepted, rejected.map(({ index, code }) => [index, code])]).to.deep.equal([
      1,
      [[0, 'body_invalid']],
    ]);
    expect((await readAllDecisions(service, agent_name))[0]?.['reason']).to.equal('\ufffd é 😀');
  });

  it('has at most 1,000 events: with one more, none is written', async () => {
    const agent_name = randomUUID();
    const [most, one] = [eventsOf(1000, { agent_name }), eventsOf(1, { agent_name: randomUUID() })];

    expect(await refusal([...one, ...Array.from({ length: 1000 }, () => '{}')])).to.deep.equal(tooLarge);
    expect(await refusal(`[${JSON.stringify(one[0])}${',1'.repeat(1000)}]`, ARRAY)).to.deep.equal(tooLarge);
    expect(await stored(String(one[0]?.['agent_name']))).to.deep.equal([]);
    expect(await send(most)).to.deep.equal({ ...none, accepted: 1000 });
    expect(await stored(agent_name)).to.have.members(idsOf(most));
  });

  it('has at most 8 MiB, plain or inflated, and a bomb is not inflated', async () => {
    const agent_name = randomUUID();
    const event = JSON.stringify(decisionEvent({ agent_name }));
    const over = `${event}\n`.padEnd(8 * MIB + 1, ' ');
    const bomb = Buffer.alloc(20 * MIB, ' ');
    bomb.write(event);

    expect(await refusal(over)).to.deep.equal(tooLarge);
    for (const body of [over, bomb]) {
      expect(await refusal(gzipSync(body), GZIP)).to.deep.equal(tooLarge);
      expect(await refusal(zstdCompressSync(body), ZSTD)).to.deep.equal(tooLarge);
    }
    expect(await stored(agent_name)).to.deep.equal([]);

    const exact = `${event}\n`.padEnd(8 * MIB, '\n');
    expect(await send(exact)).to.deep.equal({ ...none, accepted: 1 });
    expect(await send(gzipSync(exact, { level: 0 }), GZIP)).to.deep.equal({ ...none, duplicates: 1 });
    expect(await send(zstdCompressSync(exact), ZSTD)).to.deep.equal({
      ...none,
      duplicates: 1,
    });
  });

  it('is refused beyond 8 MiB even without a length', async () => {
    const chunk = `${(1 * MIB).toString(16)}\r\n${' '.repeat(MIB)}\r\n`;
    const headers = {
      Authorization: `Bearer ${service.key}`,
      'Content-Type': 'application/x-ndjson',
      'Transfer-Encoding': 'chunked',
    };

    const start = head('/v1/audit/decisions/batch', headers);

    const answer = await exchange(service.url, start, ...Array<string>(9).fill(chunk));

    expect(codeOf(answer)).to.deep.equal([413, 'batch_too_large']);
  });

  it('rejects only an event over 1 MiB, and names it', async () => {
    const agent_name = randomUUID();
    const [good, large] = eventsOf(2, { agent_name });
    const text = JSON.stringify({ ...large, unknown: '' });
    const sized = (bytes: number) =>
      text.replace('"unknown":""', `"unknown":"${'x'.repeat(bytes - text.length)}"`);

    for (const [body, type] of [
      [linesOf([sized(MIB + 1), good]), 'application/x-ndjson'],
      [`[${sized(MIB + 1)},${JSON.stringify(good)}]`, 'application/json'],
    ] as const) {
      const { status, rejected } = await send(body, { type });
      expect([status, rejected.map(withoutDetail)]).to.deep.equal([
        207,
        [{ index: 0, event_id: large?.['event_id'], status: 413, code: 'body_too_large' }],
      ]);
    }
    expect(await send([sized(MIB)])).to.deep.equal({ ...none, accepted: 1 });
    expect(await stored(agent_name)).to.have.members(idsOf([good ?? {}, large ?? {}]));
  });

  it('does not count the white space around an event of 1 MiB', async () => {
    const sized = (bytes: number) => {
      const event = decisionEvent({ padding: '' });
      return JSON.stringify({ ...event, padding: 'x'.repeat(bytes - JSON.stringify(event).length) });
    };

    for (const [before, behind, type] of [
      ['[', '\n]', 'application/json'],
      ['[ \t', `${' '.repeat(MIB)},${JSON.stringify(decisionEvent())}]`, 'application/json'],
      [' \t', ' \r\n', 'application/x-ndjson'],
      [' '.repeat(MIB), '', 'application/x-ndjson'],
    ] as const) {
      const taken = await send(`${before}${sized(MIB)}${behind}`, { type });
      const refused = await send(`${before}${sized(MIB + 1)}${behind}`, { type });

      expect(taken).to.include({ status: 202 });
      expect(refused.rejected).to.have.lengthOf(1);
      expect(refused.rejected[0]).to.include({ index: 0, status: 413, code: 'body_too_large' });
    }
  });

  it('with a key for certain agents rejects the events of others', async () => {
    const { key } = await issue(service, service.owner, { scope: 'emit_audit', agents: ['mine'] });

    const { rejected, ...counts } = await send(
      ['mine', 'other', 'mine'].map((agent_name) => decisionEvent({ agent_name })),
      { key },
    );

    expect(counts).to.deep.equal({ status: 207, accepted: 2, duplicates: 0 });
    expect(rejected.map(({ index, status, code }) => [index, status, code])).to.deep.equal([
      [1, 403, 'forbidden'],
    ]);
  });

  it('with a bad key is 401 before its body is read', async () => {
    expect(await refusal('', { key: 'x', type: 'text/plain' })).to.deep.equal({
      status: 401,
      code: 'unauthenticated',
    });
  });
});

describe('POST /v1/audit/llm-invocations/batch', () => {
  const service = useSharedService();

  it('records usage by the rules of decisions', async () => {
    const path = '/v1/audit/llm-invocations/batch';
    const first = llmInvocation({ input_tokens: 7 });
    const events = [
      first,
      llmInvocation({ output_tokens: -1 }),
      { ...first, input_tokens: 1000 },
      llmInvocation(),
    ];

    const { rejected, ...counts } = await batchOutcome(sendBatch(service, events, { path }));
    const again = await batchOutcome(
      sendBatch(service, JSON.stringify([first]), { path, type: 'application/json' }),
    );
    await sendLlm(service, { ...first, input_tokens: 5000 });

    expect(counts).to.deep.equal({ status: 207, accepted: 2, duplicates: 1 });
    expect(rejected.map(({ index, code }) => [index, code])).to.deep.equal([[1, 'body_invalid']]);
    expect(again).to.deep.equal({ ...none, duplicates: 1 });
    const { totals } = await askJson<{ totals: Record<string, number> }>(service, 'llm-usage');
    expect([totals['calls'], totals['input_tokens']]).to.deep.equal([2, 107]);
  });
});
