import { expect } from 'chai';
import fc from 'fast-check';
import { findMember } from '../../../server/http/find-member.ts';

const find = (json: string) => findMember(Buffer.from(json), 'id');

describe('findMember', () => {
  it('finds the same as a parser, in any JSON', () => {
    const value = fc.oneof(fc.string({ unit: 'grapheme' }), fc.jsonValue());
    const members = fc.array(fc.tuple(fc.constantFrom('id', 'other', '"id"', '{'), value), { maxLength: 6 });
    fc.assert(
      fc.property(members, fc.constantFrom('', ' ', '\n\t'), (pairs, space) => {
        const texts = pairs.map(
          ([name, one]) => `${JSON.stringify(name)}${space}:${space}${JSON.stringify(one)}`,
        );
        const { id } = JSON.parse(`{${texts.join(',')}}`) as { id?: unknown };
        const isPlain = typeof id === 'string' && !JSON.stringify(id).includes('\\');

        expect(find(`{${texts.join(`${space},`)}}`)).to.equal(isPlain ? id : undefined);
      }),
    );
  });

  it('finds no member of an inner object, and ends for text that is not JSON', () => {
    for (const json of [
      '{"a":{"id":"x"}}',
      '[{"id":"x"}]',
      '"id"',
      '{"id":',
      '{"id',
      '{"id":7',
      '{"a":"\\',
      '}{"id":"x"',
      '',
    ])
      expect(find(json), json).to.equal(undefined);
    expect(find('{"a":{"id":"x"},"id":"y","b":["id","z"]}')).to.equal('y');
  });
});
