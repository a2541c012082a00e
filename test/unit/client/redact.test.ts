import { expect } from 'chai';
import fc from 'fast-check';
import { redact } from '../../../client/index.ts';
import { cpuMs } from '../../support/cpu-time.ts';

const KEYS = [
  'password', 'PASSWORD', 'db_passwd', 'clientSecret', 'token', 'access_token_2', 'api_key', 'api-key', 'API KEY', 'apikey',
  'xApiKeyHeader', 'credentials', 'Authorization',
]; // prettier-ignore

describe('redact', () => {
  for (const key of KEYS) {
    it(`replaces the value under ${JSON.stringify(key)}`, () => {
      expect(redact({ [key]: { any: 'thing' } })).to.deep.equal({ [key]: '[REDACTED]' });
    });
  }

  const cases: [string, unknown, unknown][] = [
    [
      'redacts nested objects and arrays',
      { a: [{ token: 1 }, [{ b: { secret: [1, 2] } }]], c: 'kept' },
      { a: [{ token: '[REDACTED]' }, [{ b: { secret: '[REDACTED]' } }]], c: 'kept' },
    ],
    [
      'examines keys only: values are unchanged',
      { note: 'my password is hunter2', ap_key: 1, pass: 2 },
      { note: 'my password is hunter2', ap_key: 1, pass: 2 },
    ],
    [
      'redacts what toJSON returns',
      { toJSON: () => ({ password: 'x', when: new Date(0) }) },
      { password: '[REDACTED]', when: '1970-01-01T00:00:00.000Z' },
    ],
  ];
  for (const [title, value, expected] of cases) {
    it(title, () => expect(redact(value)).to.deep.equal(expected));
  }

  it('does not change its argument', () => {
    const value = Object.freeze({ password: 'x', list: Object.freeze([1]) });

    expect(redact(value)).to.not.equal(value);
    expect(value).to.deep.equal({ password: 'x', list: [1] });
  });

  it('keeps an own key __proto__ as data', () => {
    const value: unknown = JSON.parse('{"__proto__":{"token":"x","isAdmin":true}}');
    const copy = redact(value) as { isAdmin?: unknown };

    expect(JSON.stringify(copy)).to.equal('{"__proto__":{"token":"[REDACTED]","isAdmin":true}}');
    expect(copy.isAdmin).to.equal(undefined);
  });

  it('is idempotent for every value', () => {
    fc.assert(
      fc.property(
        fc.anything({ withBigInt: true, withDate: true, withMap: true, withNullPrototype: true }),
        (value) => {
          const once = redact(value);
          expect(redact(once)).to.deep.equal(once);
        },
      ),
    );
  });

  it('is idempotent where an endless value is cut', () => {
    const once = redact(endless());
    const sparse: unknown[] = [];
    sparse.length = 1e9;

    expect(JSON.stringify(redact(sparse))).to.equal(JSON.stringify(redact(redact(sparse))));
    expect(depthOf(redact(once))).to.equal(depthOf(once));
  });
});

describe('redact never throws', () => {
  const refuse = (): never => {
    throw new Error('no');
  };
  const cycle: Record<string, unknown> = { token: 'x' };
  cycle.self = cycle;
  const shared = { a: 1 };
  const refusing = new Proxy({}, { get: refuse, has: refuse, ownKeys: refuse, getPrototypeOf: refuse });
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  /** A list whose length is what this returns. */
  const listOf = (length: () => unknown): unknown[] =>
    new Proxy([1], { get: (list, key): unknown => (key === 'length' ? length() : Reflect.get(list, key)) });
  const revoking = Proxy.revocable([1], {
    get: (list, key): unknown => {
      if (key === 'length') revoking.revoke();
      return Reflect.get(list, key);
    },
  });
  const megabyte = 'x'.repeat(1024 * 1024);
  const cases: [string, unknown, unknown][] = [
    ['cycles', cycle, { token: '[REDACTED]', self: '[Circular]' }],
    ['shared references, which are not cycles', { x: shared, y: shared }, { x: { a: 1 }, y: { a: 1 } }],
    [
      'BigInt, NaN, symbols and functions, which become text',
      { big: 10n, nan: NaN, symbol: Symbol('s'), call: Math.max },
      { big: '10', nan: 'NaN', symbol: 'Symbol(s)', call: 'function max() { [native code] }' },
    ],
    [
      'getters that throw',
      Object.defineProperty({ fine: 1 }, 'broken', { get: refuse, enumerable: true }),
      { broken: '[Unreadable]', fine: 1 },
    ],
    [
      'proxies that refuse everything, and revoked ones',
      { refusing, proxy },
      { refusing: '[Unreadable]', proxy: '[Unreadable]' },
    ],
    [
      'lists whose length throws or is none',
      [refuse, () => NaN, () => Infinity, () => -1, () => '1', Symbol, () => ({ valueOf: refuse })].map(
        listOf,
      ),
      Array<string>(7).fill('[Unreadable]'),
    ],
    ['lists that are revoked as they are read', { list: revoking.proxy }, { list: ['[Unreadable]'] }],
    ['text of 1 MB', { text: megabyte }, { text: megabyte }],
    ['a BigInt with millions of digits', { big: 1n << 16_000_000n }, { big: '[Cut]' }],
  ];
  for (const [what, value, expected] of cases) {
    it(`for ${what}`, () => expect(redact(value)).to.deep.equal(expected));
  }

  it('for endless proxies', () => {
    expect(depthOf(redact(endless()))).to.be.within(10_000, 1_000_000);
  });

  it('for large typed arrays, of which only the size is recorded', () => {
    const value = { small: new Uint8Array([7]), bytes: new Uint8Array(50e6), buffer: Buffer.alloc(50e6) };
    let redacted: unknown;
    const tookMs = cpuMs(() => (redacted = redact(value)));

    expect(redacted).to.deep.equal({
      small: { 0: 7 },
      bytes: '[Binary, 50000000 bytes]',
      buffer: '[Binary, 50000000 bytes]',
    });
    expect(tookMs).to.be.below(1_000);
  });

  it('at depth 10,000, where it still redacts', () => {
    let value: unknown = { password: 'x' };
    for (let depth = 0; depth < 10_000; depth += 1) value = depth % 2 ? [value] : { a: value };

    let copy = redact(value);
    for (let depth = 0; depth < 10_000; depth += 1) {
      copy = Array.isArray(copy) ? (copy[0] as unknown) : (copy as { a: unknown }).a;
    }

    expect(copy).to.deep.equal({ password: '[REDACTED]' });
  });
});

function endless(): object {
  return new Proxy(
    {},
    {
      ownKeys: () => ['a'],
      getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true }),
      get: (_target, key) => (key === 'a' ? endless() : undefined),
    },
  );
}

function depthOf(value: unknown): number {
  let depth = 0;
  for (let inner = value; typeof inner === 'object' && inner !== null; inner = (inner as { a?: unknown }).a)
    depth += 1;
  return depth;
}
