import { expect } from 'chai';
import { parseExact, writeExact } from '../../../server/dashboard/src/api/parse-exact.ts';
import { JsonNumber, type JsonValue } from '../../../server/dashboard/src/api/types.ts';
import { formatCompact, formatCount, formatShare } from '../../../server/dashboard/src/text/format.ts';

describe('JSON from the service', () => {
  it('keeps the digits of every number', () => {
    const numbers = ['9007199254740993', '0.10', '1e400', '-0', '1E2', '12345678901234567890.5', '1.0'];
    const parsed = parseExact(`[${numbers.join(',')},1,2.5,"9007199254740993"]`) as unknown[];
    expect(parsed.map((value) => (value instanceof JsonNumber ? value.source : value))).to.deep.equal([
      ...numbers,
      1,
      2.5,
      '9007199254740993',
    ]);
  });

  it('can be summed up, compared and formatted where a number is too large for exact digits', () => {
    const { emitted } = parseExact('{"emitted":27021597764222973}') as { emitted: number };
    expect(emitted).to.be.instanceOf(JsonNumber);
    expect(emitted + emitted).to.equal(2 * Number('27021597764222973'));
    expect(emitted > 1).to.equal(true);
    expect(formatCount(emitted)).to.match(/^27,021,597,764,222,97\d$/);
    expect(formatCompact(emitted)).to.equal('27,021.6T');
    expect(formatShare(1, emitted)).to.equal('<0.1%');
  });

  it('is plain if numbers are plain', () => {
    expect(parseExact('{"a":[1,2.5,null,true],"__proto__":{"x":1}}')).to.deep.equal(
      JSON.parse('{"a":[1,2.5,null,true],"__proto__":{"x":1}}'),
    );
  });

  it('is written exactly as it was read', () => {
    const text =
      '{\n  "a": [\n    9007199254740993,\n    0.10,\n    "x\\"y"\n  ],\n  "b": {},\n  "c": null\n}';
    expect(writeExact(parseExact(text) as JsonValue, 2)).to.equal(text);
    expect(writeExact(parseExact(text) as JsonValue)).to.equal(
      '{"a":[9007199254740993,0.10,"x\\"y"],"b":{},"c":null}',
    );
  });

  it('keeps the digits of a number that stands alone, or in text that is nested as deep as arguments can be', () => {
    const depth = 4090;
    for (const text of [
      '123456789.123456789',
      '0.0000001',
      '-0',
      '"1.50"',
      '{"__proto__":1.50}',
      `${'['.repeat(depth)}1.50${']'.repeat(depth)}`,
    ])
      expect(writeExact(parseExact(text) as JsonValue), text.slice(0, 20)).to.equal(text);
  });
});
