import { expect } from 'chai';
import { BadJson, readJson } from '../../../client/policy/language/json-reader.ts';

describe('the JSON reader', () => {
  const bad = [
    '',
    ' ',
    '{',
    '[',
    '"',
    '"a',
    '"\\',
    '"\\x"',
    '"\\u12"',
    '"\\u12g4"',
    '"\\ud800"',
    '"\n"',
    '{"a"}',
    '{"a" 1}',
    '{"a":}',
    '{"a":1',
    '{"a":1,}',
    '{,}',
    '{a:1}',
    "{'a':1}",
    '{"a":1 "b":2}',
    '{"a":1,"a":2}',
    '[1',
    '[1,]',
    '[,]',
    '[1 2]',
    '[1}',
    'nul',
    'nulL',
    'tru',
    'falsy',
    '+1',
    '01',
    '1.',
    '.5',
    '1e',
    '-',
    '- 1',
    'NaN',
    '1 2',
    'null x',
    '﻿1',
    '1e1000000',
    '\xA01',
  ];
  for (const text of bad) {
    it(`refuses ${JSON.stringify(text)}`, () => {
      expect(() => readJson(text)).to.throw(BadJson);
    });
  }

  it('reads what JSON.parse reads', () => {
    const text =
      ' { "a" : [ true , false , null , "x\\n\\u00e9\\ud83d\\ude00\\/" , { } , [ ] ] , "" : "é" }\t\r\n ';
    const plain = (value: unknown): unknown => {
      if (value instanceof Map)
        return Object.fromEntries([...value].map(([key, item]) => [key, plain(item)]));
      return Array.isArray(value) ? value.map(plain) : value;
    };

    expect(plain(readJson(text))).to.deep.equal(JSON.parse(text));
  });
});
