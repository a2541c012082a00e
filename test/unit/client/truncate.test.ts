import { expect } from 'chai';
import fc from 'fast-check';
import { redact, truncateArguments } from '../../../client/index.ts';

const BYTES_MAX = 8_192;

type Truncated = { _truncated: true; original_bytes: number; preview: string };

/** Measured as the service does. */
const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

/** An object whose JSON text has this many bytes. */
const ofBytes = (bytes: number): { text: string } => ({ text: 'x'.repeat(bytes - '{"text":""}'.length) });

const nested = (depth: number) => JSON.parse(`${'['.repeat(depth)}1${']'.repeat(depth)}`) as unknown;

describe('truncateArguments', () => {
  it('keeps 8,192 bytes', () => {
    const args = ofBytes(BYTES_MAX);

    expect(bytesOf(args)).to.equal(BYTES_MAX);
    expect(truncateArguments(args)).to.deep.equal(args);
  });

  it('replaces 8,193 bytes', () => {
    const args = ofBytes(BYTES_MAX + 1);
    const result = truncateArguments(args) as Truncated;

    expect(Object.keys(result)).to.deep.equal(['_truncated', 'original_bytes', 'preview']);
    expect(result._truncated).to.equal(true);
    expect(result.original_bytes).to.equal(BYTES_MAX + 1);
    expect(JSON.stringify(args).startsWith(result.preview)).to.equal(true);
    expect(bytesOf(result)).to.equal(BYTES_MAX);
  });

  it('measures UTF-8 bytes, not characters', () => {
    const fits = { text: 'é'.repeat((BYTES_MAX - '{"text":""}'.length - 1) / 2) };
    const over = { text: `${fits.text}é` };

    expect(truncateArguments(fits)).to.deep.equal(fits);
    expect((truncateArguments(over) as Truncated).original_bytes).to.equal(bytesOf(over));
  });

  it('never cuts a character in two', () => {
    for (const pad of ['', 'x', 'xx', 'xxx']) {
      const { preview } = truncateArguments({ text: `${pad}${'😀'.repeat(4_000)}` }) as Truncated;

      expect(preview.isWellFormed()).to.equal(true);
    }
  });

  it('keeps null, and converts values that JSON lacks to text', () => {
    expect(truncateArguments(null)).to.equal(null);
    const result = truncateArguments({ n: 10n, at: new Date(0) });
    expect(result).to.deep.equal({ n: '10', at: '1970-01-01T00:00:00.000Z' });
  });

  it('returns at most 8,192 bytes for any value, and keeps what fits', () => {
    fc.assert(
      fc.property(anyArguments(), (args) => {
        const result = truncateArguments(args);
        // A plain copy, because the arguments here name no secrets.
        const copy = redact(args);
        const bytes = bytesOf(copy);
        expect(bytesOf(result)).to.be.at.most(BYTES_MAX);
        if (bytes <= BYTES_MAX) expect(JSON.stringify(result)).to.equal(JSON.stringify(copy));
        else expect((result as Truncated).original_bytes).to.equal(bytes);
      }),
      { numRuns: 500 },
    );
  });

  it('fills the preview: one more character would not fit', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 3_000, maxLength: 9_000 }), (text) => {
        const args = { text };
        const result = truncateArguments(args) as Truncated;
        if (bytesOf(args) <= BYTES_MAX) return;
        const next = String.fromCodePoint(JSON.stringify(args).codePointAt(result.preview.length) ?? 0);
        expect(bytesOf({ ...result, preview: result.preview + next })).to.be.above(BYTES_MAX);
      }),
      { numRuns: 100 },
    );
  });

  const widths: [string, string][] = [
    ['a quotation mark', '"'],
    ['a backslash', '\\'],
    ['a space', ' '],
    ['a control character', '\u001f'],
    ['a lone surrogate', '\ud800'],
    ['U+007F', '\u007f'],
    ['U+0080', '\u0080'],
    ['U+07FF', '\u07ff'],
    ['U+0800', '\u0800'],
    ['U+FFFF', '\uffff'],
    ['U+10000', '\u{10000}'],
  ];
  for (const [name, character] of widths) {
    it(`fills the preview with ${name} to the last byte that fits`, () => {
      for (const pad of ['', 'x', 'xx', 'xxx']) {
        const args = { text: pad + character.repeat(9_000) };
        const result = truncateArguments(args) as Truncated;
        const rest = JSON.stringify(args).slice(result.preview.length);

        expect(bytesOf(result)).to.be.at.most(BYTES_MAX);
        expect(
          bytesOf({ ...result, preview: result.preview + String.fromCodePoint(rest.codePointAt(0) ?? 0) }),
        ).to.be.above(BYTES_MAX);
      }
    });
  }

  it('returns undefined for nothing', () => {
    expect(truncateArguments(undefined)).to.equal(undefined);
  });

  it('never throws: depth 10,000, cycles, endless proxies, text of 1 MB', () => {
    const originalBytes = (args: unknown): number => (truncateArguments(args) as Truncated).original_bytes;
    const cycle: Record<string, unknown> = {};
    cycle.self = cycle;

    expect(originalBytes({ deep: nested(10_000) })).to.equal('{"deep":1}'.length + 20_000);
    expect(truncateArguments(cycle)).to.deep.equal({ self: '[Circular]' });
    expect(originalBytes({ text: 'x'.repeat(2 ** 20) })).to.equal(2 ** 20 + 11);
  });

  it('unboxes primitives, as JSON.stringify does', () => {
    const args = { a: new String('x'), b: new Number(5), c: new Boolean(false), d: [new String('y')] };

    expect(truncateArguments(args)).to.deep.equal({ a: 'x', b: 5, c: false, d: ['y'] });
    expect(truncateArguments({ e: Object(5n), f: new Number(NaN) })).to.deep.equal({ e: '5', f: 'NaN' });
  });

  it('keeps nesting that fits, however deep', () => {
    expect(truncateArguments({ deep: nested(4_000) })).to.not.have.property('_truncated');
  });
});

function anyArguments(): fc.Arbitrary<unknown> {
  const leaf = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 6_000 }),
    fc.string({ unit: 'grapheme', maxLength: 3_000 }),
    fc.constantFrom('"\\\u0000\u001f\u007f\u2028\ud800'.repeat(700), '😀'.repeat(2_500), 'é'.repeat(4_000)),
    fc.double(),
    fc.bigInt(),
    fc.boolean(),
    fc.constant(undefined),
  );
  const key = fc.string({ unit: 'binary', maxLength: 50 }).map((text) => text.replaceAll(/[a-z]/gi, '_'));
  return fc.dictionary(key, fc.oneof(leaf, fc.array(leaf), fc.dictionary(key, leaf)), { maxKeys: 8 });
}
