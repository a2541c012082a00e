import fc from 'fast-check';
import { ROLE_NAMES, TOOL_NAMES } from './arbitrary-policy.ts';
import { membersOf, oddValueArbitrary, valueArbitrary } from './arbitrary-values.ts';
import { array, object, render, string, Style, word, type Tree } from './json-tree.ts';

const encoder = new TextEncoder();

const tool = fc.oneof(
  { weight: 12, arbitrary: fc.constantFrom(...TOOL_NAMES, 'nobody').map(string) },
  { weight: 1, arbitrary: valueArbitrary },
);
const role = fc.oneof(
  { weight: 12, arbitrary: fc.constantFrom(...ROLE_NAMES, 'nobody', 'valueOf').map(string) },
  { weight: 1, arbitrary: valueArbitrary },
);
const args = fc.oneof(
  { weight: 12, arbitrary: membersOf(valueArbitrary).map(object) },
  { weight: 1, arbitrary: fc.constant(word('null')) },
  { weight: 1, arbitrary: valueArbitrary },
);
const other = fc
  .constantFrom('id', 'tools', '__proto__', 'Role', '')
  .chain((name) => fc.tuple(fc.constant(name), valueArbitrary));

const callTree: fc.Arbitrary<Tree> = fc
  .record({
    tool,
    role: fc.option(role, { freq: 5 }),
    args: fc.option(args, { freq: 9 }),
    others: fc.array(other, { maxLength: 1 }),
  })
  .map((call) => {
    const members: [string, Tree][] = [['tool', call.tool], ...call.others];
    if (call.role !== null) members.push(['role', call.role]);
    if (call.args !== null) members.unshift(['arguments', call.args]);
    return object(members);
  });

/** Containers in containers around the bound of 64, the call itself and its arguments among them. */
const deepTree: fc.Arbitrary<Tree> = fc
  .record({
    depth: fc.integer({ min: 58, max: 70 }),
    core: fc.constantFrom(array([]), object([]), array([word('1')])),
    tool,
  })
  .map(({ depth, core, tool }) => {
    let tree = core;
    for (let level = 4; level <= depth; level += 1)
      tree = level % 2 === 0 ? array([tree]) : object([['a', tree]]);
    return object([
      ['tool', tool],
      ['arguments', object([['a', tree]])],
    ]);
  });

const oddTree = oddValueArbitrary.map((odd) =>
  object([
    ['tool', string('search')],
    ['arguments', object([['a', odd]])],
  ]),
);

const seed = fc.nat();
const textArbitrary = fc
  .tuple(
    fc.oneof(
      { weight: 16, arbitrary: callTree },
      { weight: 1, arbitrary: deepTree },
      { weight: 1, arbitrary: oddTree },
    ),
    seed,
  )
  .map(([tree, seed]) => render(tree, new Style(seed)));

type Damage = (bytes: Uint8Array) => Uint8Array;

const cut = seed.map(
  (at): Damage =>
    (bytes) =>
      bytes.slice(0, at % (bytes.length + 1)),
);
const bent = fc
  .tuple(seed, fc.integer({ min: 0, max: 255 }))
  .map(([at, byte]): Damage => (bytes) => bytes.with(at % bytes.length, byte)); // prettier-ignore
const prefixed = fc
  .constantFrom('\ufeff', ' ', '\u00a0', '\0')
  .map((text): Damage => (bytes) => joined(encoder.encode(text), bytes)); // prettier-ignore
const suffixed = fc
  .constantFrom('\ufeff', '\n', ',', '{}', '\0', '}')
  .map((text): Damage => (bytes) => joined(bytes, encoder.encode(text))); // prettier-ignore
const damageArbitrary: fc.Arbitrary<Damage> = fc.oneof(
  { weight: 8, arbitrary: fc.constant<Damage>((bytes) => bytes) },
  ...[cut, bent, prefixed, suffixed].map((arbitrary) => ({ weight: 1, arbitrary })),
);

function joined(a: Uint8Array, b: Uint8Array): Uint8Array {
  return Uint8Array.from([...a, ...b]);
}

/** Call texts of every kind, as bytes: most of them good, the others cut, bent or decorated. */
export const callArbitrary: fc.Arbitrary<Uint8Array> = fc
  .tuple(textArbitrary, damageArbitrary)
  .map(([text, damage]) => damage(encoder.encode(text)));
