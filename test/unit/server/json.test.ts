import { expect } from 'chai';
import fc from 'fast-check';
import { RequestError } from '../../../server/errors.ts';
import { exactJson, hasNumberAtRisk, parseJson } from '../../../server/json.ts';

/** The JSON text that the service stores: exact where a number is at risk, plain otherwise. */
function kept(text: string): string {
  if (!hasNumberAtRisk(text)) return JSON.stringify(parseJson(text));
  const { value, textOf } = exactJson(text);
  return textOf(value);
}

const number = fc.oneof(
  fc.stringMatching(/^-?(0|[1-9][0-9]{0,25})(\.[0-9]{1,25})?([eE][+-]?[0-9]{1,4})?$/),
  fc.constantFrom(
    '9007199254740993',
    '1e400',
    '0.10',
    '-0',
    '1E5',
    '-0.0',
    '1.0',
    '9007199254740991',
    '-9007199254740993',
  ),
);
const text = fc
  .oneof(fc.string(), number, fc.constantFrom('":-0', '[1.0,', ':1E5}', '\\', '"', '\u2028'))
  .map((value) => JSON.stringify(value));
const json = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    number,
    text,
    fc.constantFrom('null', 'true', 'false', '{}', '[]'),
    fc.array(tie('value'), { maxLength: 4 }).map((items) => `[${items.join(',')}]`),
    // No integer keys: JavaScript puts them before all others.
    fc
      .uniqueArray(fc.tuple(fc.stringMatching(/^[a-z_][a-z0-9_.:-]{0,8}$/), tie('value')), {
        selector: ([key]) => key,
        maxLength: 4,
      })
      .map((members) => `{${members.map(([key, value]) => `${JSON.stringify(key)}:${value}`).join(',')}}`),
  ),
})).value;

describe('exactJson', () => {
  it('reproduces any JSON text exactly', () => {
    fc.assert(
      fc.property(json, (value) => {
        const whole = `{"a":${value}}`;
        expect(kept(whole)).to.equal(whole);
      }),
      { numRuns: 2000 },
    );
  });

  it('detects every number that JSON.stringify would write differently', () => {
    fc.assert(
      fc.property(number, fc.constantFrom('', ' ', '\n', '\t', '\r\n  '), (value, space) => {
        for (const whole of [
          `{"a":${space}${value}}`,
          `{"a":[${space}${value}]}`,
          `{"a":[1,${space}${value}]}`,
          `{"a":{"b"${space}:${value}}}`,
        ]) {
          expect(hasNumberAtRisk(whole) || JSON.stringify(JSON.parse(value)) === value).to.equal(true);
        }
      }),
    );
  });

  it('ignores UUIDs, times and plain integers, which need no second parse', () => {
    const event = {
      event_id: '017f22e2-79b0-7cc3-98c4-dc0c0c07398f',
      occurred_at: '2026-01-02T03:04:05.123Z',
      arguments: { n: 12, m: [0, -7, 999] },
    };

    expect(hasNumberAtRisk(JSON.stringify(event))).to.equal(false);
    expect(hasNumberAtRisk(JSON.stringify(event, null, 2))).to.equal(false);
  });

  it('keeps __proto__ as data, without setting a prototype', () => {
    const value = exactJson('{"__proto__":{"a":0.10},"b":1}').value as Record<string, unknown>;

    expect(Object.keys(value)).to.deep.equal(['__proto__', 'b']);
    expect(value['a']).to.equal(undefined);
  });

  it('parses any depth that fits a body', () => {
    const deep = `{"a":${'['.repeat(32_000)}0.10${']'.repeat(32_000)}}`;

    expect(() => exactJson(deep)).to.not.throw();
  });

  it('throws body_invalid for invalid JSON', () => {
    for (const broken of [
      '',
      '{',
      '{"a":01}',
      '{"a":1.}',
      '{"a":+1}',
      '{"a":.5}',
      '{"a":1e}',
      '{"a":Infinity}',
      '[1,]',
    ]) {
      expect(() => parseJson(broken), broken)
        .to.throw(RequestError)
        .with.property('code', 'body_invalid');
    }
  });
});
