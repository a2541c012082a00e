import { expect } from 'chai';
import { callTextFrom, JsonWriter } from '../../../client/policy/language/call-text.ts';

const textOf = (args: unknown) => callTextFrom({ tool: 't', role: 'r', arguments: args });

describe('the text of a call', () => {
  const texts: [unknown, string][] = [
    [{ tool: 't' }, '{"tool":"t"}'],
    [{ tool: 't', role: null, arguments: [] }, '{"tool":"t","role":null,"arguments":[]}'],
    [{ role: 'r', tool: 't', other: 1 }, '{"tool":"t","role":"r"}'],
    [
      { tool: 't', arguments: { a: [1, undefined, 'x'], b: undefined, c: 10n } },
      '{"tool":"t","arguments":{"a":[1,null,"x"],"c":10}}',
    ],
    [{ toJSON: () => ({ tool: 'said' }), tool: 'not said' }, '{"tool":"said"}'],
    [{ toJSON: (key: unknown) => ({ tool: `key ${JSON.stringify(key)}` }) }, '{"tool":"key \\"\\""}'],
  ];
  for (const [call, text] of texts) {
    it(`is ${text}`, () => {
      expect(callTextFrom(call)).to.deep.equal({ ok: true, text });
    });
  }

  const bad: [string, unknown][] = [
    ['null', null],
    ['undefined', undefined],
    ['text', 'tool'],
    ['a list', [{ tool: 't' }]],
    ['one that says null', { toJSON: () => null }],
    ['one that says a list', { toJSON: () => [] }],
    ['one that says text', { toJSON: () => 'tool' }],
    ['one that throws', { toJSON: () => JSON.parse('{') as unknown }],
  ];
  for (const [name, call] of bad) {
    it(`is refused for ${name}`, () => {
      expect(callTextFrom(call)).to.deep.equal({ ok: false, code: 'bad_call' });
    });
  }

  for (const [name, value] of [
    ['a function', () => 1],
    ['a symbol', Symbol('x')],
    ['NaN', NaN],
    ['infinity', -Infinity],
  ] as const) {
    it(`is refused for an argument that is ${name}`, () => {
      expect(textOf({ a: value })).to.deep.equal({ ok: false, code: 'bad_call' });
    });
  }

  it('is refused for a BigInt with more digits than a call has bytes', () => {
    expect(textOf({ a: 10n ** 200_000n }).ok).to.equal(true);
    expect(textOf({ a: 10n ** 300_000n })).to.deep.equal({ ok: false, code: 'too_large' });
    expect(textOf({ a: 2n ** 2_000_000n })).to.deep.equal({ ok: false, code: 'too_large' });
  });

  it('has at most as many units as it may', () => {
    expect(new JsonWriter(7).write(['ab'])).to.equal('["ab"]');
    expect(new JsonWriter(6).write(['ab'])).to.equal('["ab"]');
    expect(() => new JsonWriter(4).write(['ab'])).to.throw();
    expect(() => new JsonWriter(1).write('ab')).to.throw();
    expect(new JsonWriter(4).write('ab')).to.equal('"ab"');
  });
});
