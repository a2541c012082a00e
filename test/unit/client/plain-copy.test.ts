import { expect } from 'chai';
import { EventCopier, jsonText, plainCopy } from '../../../client/audit/plain-copy.ts';
import { COPY_UNITS_MAX, EVENT_VALUES_MAX } from '../../../client/limits.ts';

const listOf = (length: number): number[] => Array.from({ length }, (_, index) => index);

describe('a plain copy', () => {
  const circular: Record<string, unknown> = { name: 'x' };
  circular['self'] = circular;
  const unreadable = Object.defineProperty({}, 'x', {
    enumerable: true,
    get: () => {
      throw new Error('no');
    },
  });
  const CASES: [string, unknown, unknown][] = [
    ['keeps what redact would hide', { token: 'x' }, { token: 'x' }],
    ['holds a cycle as a mark', circular, { name: 'x', self: '[Circular]' }],
    ['holds what throws as a mark', unreadable, { x: '[Unreadable]' }],
    ['holds a large array of bytes as its size', new Uint8Array(2_000_000), '[Binary, 2000000 bytes]'],
    ['holds a bigint as its digits', { n: 12n }, { n: '12' }],
    ['holds a number that JSON lacks as its text', [NaN, Infinity, 1.5], ['NaN', 'Infinity', 1.5]],
    ['holds a symbol as its text', Symbol('s'), 'Symbol(s)'],
    ['cuts a bigint of too many digits', 1n << 2_000_000n, '[Cut]'],
  ];
  for (const [what, value, expected] of CASES)
    it(what, () => expect(plainCopy(value)).to.deep.equal(expected));

  it('is cut where the budget ends: inside a text, and completely after it', () => {
    const [text, next] = plainCopy(['x'.repeat(COPY_UNITS_MAX), 'y']) as [string, string];

    expect(text.length).to.be.within(COPY_UNITS_MAX - 1000, COPY_UNITS_MAX);
    expect(next).to.equal('[Cut]');
  });

  it('charges the names of members', () => {
    const copy = plainCopy({ ['k'.repeat(COPY_UNITS_MAX)]: 1, b: 2 }) as Record<string, unknown>;

    expect(Object.values(copy)).to.deep.equal([1, '[Cut]']);
  });
});

describe('the copies of one event', () => {
  const TEXTS: [unknown, string][] = [
    ['text', 'text'],
    [undefined, ''],
    [null, ''],
    [{ a: [1], token: 'x' }, '{"a":[1],"token":"x"}'],
    [0, '0'],
  ];
  for (const [value, expected] of TEXTS)
    it(`have the text ${JSON.stringify(expected)}`, () =>
      expect(new EventCopier().text(value)).to.equal(expected));

  it('hide secrets where asked', () => {
    const copier = new EventCopier();

    expect(copier.redacted({ token: 'x' })).to.deep.equal({ plain: { token: '[REDACTED]' }, isCut: false });
    expect(copier.plain({ token: 'x' })).to.deep.equal({ token: 'x' });
  });

  it('share one bound of values', () => {
    const copier = new EventCopier();
    copier.text('one');
    const whole = copier.redacted(listOf(EVENT_VALUES_MAX - 3));
    const rest = copier.redacted([1, 2]);

    expect([(whole.plain as unknown[]).length, whole.isCut]).to.deep.equal([EVENT_VALUES_MAX - 3, false]);
    expect(rest).to.deep.equal({ plain: ['[Cut]'], isCut: true });
    expect(copier.redacted(1)).to.deep.equal({ plain: '[Cut]', isCut: true });
    expect(copier.text({})).to.equal('"[Cut]"');
  });

  it('say where they are cut', () => {
    const { plain, isCut } = new EventCopier().redacted(listOf(EVENT_VALUES_MAX + 5));

    expect(isCut).to.equal(true);
    expect((plain as unknown[]).slice(-2)).to.deep.equal([EVENT_VALUES_MAX - 2, '[Cut]']);
  });

  it('say that the bytes of a binary are left out', () => {
    expect(new EventCopier().redacted(new Uint8Array(EVENT_VALUES_MAX + 1))).to.deep.equal({
      plain: `[Binary, ${EVENT_VALUES_MAX + 1} bytes]`,
      isCut: true,
    });
  });

  it('are not cut by a cycle or by what throws', () => {
    const circular: unknown[] = [];
    circular.push(circular);

    expect(new EventCopier().redacted(circular)).to.deep.equal({ plain: ['[Circular]'], isCut: false });
  });
});

describe('jsonText', () => {
  it('is the JSON of plain data, however deep', () => {
    let deep: unknown = 1;
    for (let level = 0; level < 20_000; level += 1) deep = [deep];

    expect(jsonText(deep)).to.equal(`${'['.repeat(20_000)}1${']'.repeat(20_000)}`);
    expect([jsonText(undefined), jsonText({ a: '"' })]).to.deep.equal(['null', '{"a":"\\""}']);
  });
});
