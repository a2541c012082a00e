import { expect } from 'chai';
import { Type as Library } from 'typebox';
import { Type as Ours } from '../../../server/type.ts';

/** Schemas made with each builder. */
const schemas = (Type: typeof Ours) => ({
  text: Type.String({ minLength: 1, description: 'a text' }),
  numbers: [Type.Integer({ minimum: 0 }), Type.Number(), Type.Boolean({ default: true }), Type.Null()],
  unknown: [Type.Unknown(), Type.Unknown({ description: 'anything' })],
  unsafe: Type.Unsafe<string>({ type: 'string', format: 'uuid' }),
  literal: [Type.Literal('x'), Type.Literal(1, { description: 'one' })],
  choice: [
    Type.Enum(['a', 'b'], { type: 'string' }),
    Type.Union([Type.String(), Type.Null()], { default: null }),
  ],
  list: Type.Array(Type.String(), { maxItems: 3 }),
  record: [
    Type.Record(Type.String(), Type.Integer()),
    Type.Record(Type.String({ pattern: '^a' }), Type.Unknown(), { maxProperties: 2 }),
  ],
  object: Type.Object(
    { a: Type.String(), b: Type.Optional(Type.Integer({ minimum: 0 })), c: Type.Array(Type.Null()) },
    { additionalProperties: false },
  ),
  noneRequired: [Type.Object({}), Type.Object({ b: Type.Optional(Type.Unsafe({})) })],
});

describe('the builders of schemas', () => {
  it('make what the library makes, key by key in its order', () => {
    expect(JSON.stringify(schemas(Ours))).to.equal(JSON.stringify(schemas(Library)));
  });

  it('leave a schema required that is optional elsewhere', () => {
    const name = Ours.String();

    expect(Ours.Object({ a: Ours.Optional(name), b: name })).to.deep.include({ required: ['b'] });
  });
});
