import { expect } from 'chai';
import { gzipSync } from 'node:zlib';
import { call, jsonOf } from '../support/accounts.ts';
import { timeFromNow } from '../support/audit.ts';
import { type BatchAnswer, batchOutcome, sendBatch } from '../support/batch.ts';
import { decisionEvent, llmInvocation } from '../support/events.ts';
import { Random } from '../support/random.ts';
import { ask, askJson } from '../support/reads.ts';
import { type SharedService, useSharedService } from '../support/shared-service.ts';
import { DAY_MS } from '../../server/durations.ts';

const SEED = Number(process.env['GATE_TEST_SEED'] ?? Math.floor(Math.random() * 1_000_000));
const EVENTS = 150;
/** About a third of the events are valid. A run with fewer than this compared too little. */
const RECORDED_MIN = EVENTS / 8;

const OBJECTS = [
  'null',
  '{}',
  '{"a":9007199254740993,"b":1e400,"c":0.10,"d":-0}',
  '{"a":"\\u0000\\ud800 \\ufffd","b":[1,[2.50]]}',
  '{ "a" : [ 1 , "[{,}]\\\\\\"" ] , "a" : 2 }',
  `{"a":"${'é'.repeat(2043)}"}`,
  `{"a":"${'x'.repeat(4088)}"}`,
  `{"a":"${'x'.repeat(4089)}"}`,
  `{"a":"${'x'.repeat(8184)}"}`,
  `{"a":"${'x'.repeat(8185)}"}`,
  `{"a":${'['.repeat(3000)}0.10${']'.repeat(3000)}}`,
  '[]',
  '"text"',
  '1',
] as const;
const TIMES = [
  () => `"${timeFromNow(-DAY_MS)}"`,
  () => `"${timeFromNow(0).toLowerCase()}"`,
  () => `"${timeFromNow(-1000).replace('Z', '987654321+00:00')}"`,
  () => `"${timeFromNow(-91 * DAY_MS)}"`,
  () => `"${timeFromNow(DAY_MS)}"`,
  () => `"${timeFromNow(0).replace('T', ' ')}"`,
  () => '"2026-02-30T00:00:00Z"',
  () => '1',
] as const;
const TEXTS = [
  '""',
  '"é😀"',
  '"a\\u0000"',
  '"\\ud800"',
  `"${'😀'.repeat(200)}"`,
  `"${'x'.repeat(201)}"`,
  'null',
  '7',
  '"\\u0061"',
] as const;
const IDS = ['"UPPER"', '"none"', 'null', '""'] as const;
const NO_EVENTS = [
  '{',
  '[1]',
  'null',
  '"x"',
  '0.10',
  '{}',
  '{"event_id":"UPPER"}',
  '{"__proto__":{}}',
  '\ufeff{}',
  '{"a":1}}',
] as const;

/** The text of a random event: valid, nearly valid or nonsense. It may repeat the event_id of an earlier one. */
function eventText(random: Random, whole: Record<string, unknown>, ids: string[]): string {
  const uuid = random.uuid();
  if (random.chance(0.1)) return random.pick(NO_EVENTS).replace('UPPER', uuid.toUpperCase());
  const [earlier = uuid, ...others] = ids;
  const event_id = random.chance(0.1) ? random.pick([earlier, ...others]) : uuid;
  ids.push(event_id);
  const texts = new Map(
    Object.entries({ ...whole, event_id }).map(([name, value]) => [name, JSON.stringify(value)]),
  );
  for (let changes = random.below(3); changes > 0; changes -= 1) {
    const name = random.pick([...texts.keys()] as [string, ...string[]]);
    if (random.chance(0.2)) texts.delete(name);
    else if (name === 'arguments' || name === 'hint') texts.set(name, random.pick(OBJECTS));
    else if (name === 'occurred_at') texts.set(name, random.pick(TIMES)());
    else if (name === 'event_id') texts.set(name, random.pick(IDS).replace('UPPER', uuid.toUpperCase()));
    else texts.set(name, random.pick([...TEXTS, ...OBJECTS]));
  }
  const members = Array.from(texts, ([name, text]) => `${random.chance(0.1) ? ' ' : ''}"${name}" :${text}`);
  return `{${[...members, ...(random.chance(0.2) ? ['"project_id":"other"', '"unknown":0.10'] : [])].join(',')}}`;
}

/** Each of the objects at least once, whatever the seed. */
function withArguments(random: Random, text: string): string {
  const event = JSON.stringify(decisionEvent({ event_id: random.uuid(), arguments: 'HERE', hint: { n: 1 } }));
  return event.replace('"HERE"', () => text);
}

type Outcome = { status: number; code?: string; detail?: string; errors?: object[] };

/** For an event that was not rejected, only that is known. A detail contains the server's time, which differs. */
function outcomeFrom({ status, code, detail, errors }: Outcome): Outcome | 'recorded' {
  if (status === 202) return 'recorded';
  return {
    status,
    code: code ?? '',
    detail: (detail ?? '').replace(/time is .*/, ''),
    ...(errors === undefined ? {} : { errors }),
  };
}

function outcomesOf({ rejected }: BatchAnswer, events: number): (Outcome | 'recorded')[] {
  const outcomes = Array.from({ length: events }, (): Outcome | 'recorded' => 'recorded');
  for (const one of rejected) outcomes[one.index] = outcomeFrom(one);
  return outcomes;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** The stored records as text, digit for digit, without what differs between projects. */
async function recordsOf(service: SharedService): Promise<string[]> {
  const { text } = await ask(service, 'decisions/export', { query: { window: '90d' } });
  const lines = text.trimEnd().split('\n');
  return lines.map((line) => line.replace(/"(?:project_id|received_at)":"[^"]*",?/g, '')).sort();
}

describe(`events in a batch are judged and stored as the same events alone (seed ${SEED})`, () => {
  const [alone, inLines, inArray] = [useSharedService(), useSharedService(), useSharedService()];

  async function outcomesAlone(path: string, texts: string[]): Promise<(Outcome | 'recorded')[]> {
    const outcomes: (Outcome | 'recorded')[] = [];
    for (const text of texts) {
      const response = await call(alone, path, { key: alone.key, body: text });
      outcomes.push(outcomeFrom({ ...(await jsonOf<object>(response)), status: response.status }));
    }
    return outcomes;
  }

  for (const [path, whole] of [
    ['/v1/audit/decisions', decisionEvent()],
    ['/v1/audit/llm-invocations', llmInvocation()],
  ] as const) {
    it(`POST ${path}/batch`, async () => {
      const [random, ids]: [Random, string[]] = [new Random(SEED), []];
      const texts = Array.from({ length: EVENTS }, () => eventText(random, whole, ids));
      if ('arguments' in whole) texts.push(...OBJECTS.map((text) => withArguments(random, text)));
      const wellFormed = texts.filter(isJson);

      const expected = await outcomesAlone(path, texts);
      const lines = await batchOutcome(sendBatch(inLines, texts, { path: `${path}/batch` }));
      const array = await batchOutcome(
        sendBatch(inArray, gzipSync(`[${wellFormed.join(',')}]`), {
          path: `${path}/batch`,
          type: 'application/json',
          headers: { 'Content-Encoding': 'gzip' },
        }),
      );

      expect(outcomesOf(lines, texts.length)).to.deep.equal(expected);
      expect(outcomesOf(array, wellFormed.length)).to.deep.equal(
        expected.filter((_, i) => isJson(texts[i] ?? '')),
      );
      const recorded = expected.filter((outcome) => outcome === 'recorded').length;
      for (const { accepted, duplicates } of [lines, array]) {
        expect(accepted + duplicates).to.equal(recorded);
        expect(accepted).to.be.within(RECORDED_MIN, recorded);
      }
    });
  }

  it('and the records are the same, field by field', async () => {
    const expected = await recordsOf(alone);

    expect(expected.length).to.be.greaterThan(RECORDED_MIN);
    expect(await recordsOf(inLines)).to.deep.equal(expected);
    expect(await recordsOf(inArray)).to.deep.equal(expected);
    const usage = async (service: SharedService) =>
      (await askJson<{ totals: object }>(service, 'llm-usage', { query: { window: '90d' } })).totals;
    expect(await usage(inLines)).to.deep.equal(await usage(alone));
    expect(await usage(inArray)).to.deep.equal(await usage(alone));
  });
});
