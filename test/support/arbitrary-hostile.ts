import fc from 'fast-check';

/** Parts that parsers of YAML, JSON, base64 and JWS stumble over. */
const FRAGMENTS = [
  '', '\0', '\ud800', '\ufeff', '\u2028', '\u0085', '\r', '\n', '\t', ' ', '  ', '---', '...', '%YAML 9.9\n', '&a', '*a', '<<: *a',
  '!!binary ', '!!js/function ', '!<x>', '? ', ': ', '- ', '| ', '>', '"', "'", '`', '#', ',', '[', ']', '{', '}', '[[[[[[[[', '{{{{',
  '__proto__', 'constructor', 'toString', 'null', '~', 'true', 'NaN', '.inf', '1e999', '-0', '0x7fffffffffffffff', '9007199254740993',
  '=', '==', '-_', '+/', '.', '..', '\\', '\\u0000', '"kid"', '"alg":"none"', '"x":', 'AAAA', 'é', '😀',
]; // prettier-ignore

const fragment = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...FRAGMENTS) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 40 }) },
  {
    weight: 1,
    arbitrary: fc.tuple(fc.constantFrom(...FRAGMENTS), fc.nat({ max: 60 })).map(([t, n]) => t.repeat(n)),
  },
);

const edit = fc.record({
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  cut: fc.nat({ max: 30 }),
  fragment,
});

/** The text with some edits; sometimes another text altogether. */
export function hostileText(valid: string): fc.Arbitrary<string> {
  const edited = fc.array(edit, { minLength: 1, maxLength: 4 }).map((edits) =>
    edits.reduce((text, { at, cut, fragment: part }) => {
      const start = Math.floor(at * (text.length + 1));
      return text.slice(0, start) + part + text.slice(start + cut);
    }, valid),
  );
  const truncated = fc.nat({ max: valid.length }).map((length) => valid.slice(0, length));
  const other = fc.array(fragment, { maxLength: 30 }).map((parts) => parts.join(''));
  return fc.oneof({ weight: 4, arbitrary: edited }, { weight: 1, arbitrary: truncated }, other);
}

const deep = (open: string, close: string): unknown =>
  JSON.parse(`${open.repeat(2_000)}1${close.repeat(2_000)}`);

const hostileValue = fc.oneof(
  fc.constantFrom<unknown[]>(
    null,
    true,
    0,
    -1,
    1e308,
    '',
    [],
    {},
    [null],
    { length: -1 },
    'x'.repeat(10_000),
  ),
  fc.constantFrom(deep('[', ']'), deep('{"a":', '}')),
  fc.jsonValue(),
);

/** JSON texts of the object with members replaced, removed, repeated or added, or edited as text. */
export function hostileJson(valid: Record<string, unknown>): fc.Arbitrary<string> {
  const names = [...Object.keys(valid), '__proto__', 'toJSON', 'unknown'];
  const replaced = fc
    .array(fc.tuple(fc.constantFrom(...names), fc.option(hostileValue)), { minLength: 1, maxLength: 3 })
    .map((changes) => {
      const members = new Map(Object.entries(valid));
      for (const [name, value] of changes) {
        if (value === null) members.delete(name);
        else members.set(name, value);
      }
      return JSON.stringify(Object.fromEntries(members));
    });
  const member = fc.constantFrom(...Object.keys(valid));
  const edited = member.chain((name) => {
    const value = valid[name];
    const isText = typeof value === 'string';
    const text = isText ? value : (JSON.stringify(value) ?? '');
    return hostileText(text).map((changed) => JSON.stringify({ ...valid, [name]: changed }));
  });
  return fc.oneof(
    { weight: 2, arbitrary: replaced },
    { weight: 2, arbitrary: edited },
    hostileText(JSON.stringify(valid)),
  );
}
