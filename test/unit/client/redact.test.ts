import { expect } from 'chai';
import fc from 'fast-check';
import { redact } from '../../../client/index.ts';
import { cpuMs } from '../../support/cpu-time.ts';

const KEYS = [
  'password',
  'PASSWORD',
  'db_passwd',
  'clientSecret',
  'token',
  'access_token_2',
  'api_key',
  'api-key',
  'API KEY',
  'apikey',
  'xApiKeyHeader',
  'credentials',
  'Authorization',
];

describe('redact', () => {
  for (const key of KEYS) {
    it(`replaces the value under ${JSON.stringify(key)}`, () => {
      expect(redact({ [key]: { any: 'thing' } })).to.deep.equal({ [key]: '[REDACTED]' });
    });
  }

  it('redacts nested objects and arrays', () => {
    const value = { a: [{ token: 1 }, [{ b: { secret: [1, 2] } }]], c: 'kept' };

    expect(redact(value)).to.deep.equal({
      a: [{ token: '[REDACTED]' }, [{ b: { secret: '[REDACTED]' } }]],
      c: 'kept',
    });
  });

  it('examines keys only: values are unchanged', () => {
    expect(redact({ note: 'my password is hunter2', ap_key: 1, pass: 2 })).to.deep.equal({
      note: 'my password is hunter2',
      ap_key: 1,
      pass: 2,
    });
  });

  it('does not change its argument', () => {
    const value = Object.freeze({ password: 'x', list: Object.freeze([1]) });

    expect(redact(value)).to.not.equal(value);
    expect(value).to.deep.equal({ password: 'x', list: [1] });
  });

  it('redacts what toJSON returns', () => {
    const value = { toJSON: () => ({ password: 'x', when: new Date(0) }) };

    expect(redact(value)).to.deep.equal({ password: '[REDACTED]', when: '1970-01-01T00:00:00.000Z' });
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
  it('for cycles', () => {
    const value: Record<string, unknown> = { token: 'x' };
    value.self = value;

    expect(redact(value)).to.deep.equal({ token: '[REDACTED]', self: '[Circular]' });
  });

  it('for shared references, which are not cycles', () => {
    const shared = { a: 1 };

    expect(redact({ x: shared, y: shared })).to.deep.equal({ x: { a: 1 }, y: { a: 1 } });
  });

  it('for BigInt, NaN, symbols and functions, which become text', () => {
    const value = { big: 10n, nan: NaN, symbol: Symbol('s'), call: Math.max };

    expect(redact(value)).to.deep.equal({
      big: '10',
      nan: 'NaN',
      symbol: 'Symbol(s)',
      call: 'function max() { [native code] }',
    });
  });

  it('for getters that throw', () => {
    const value = {
      get broken(): string {
        throw new Error('no');
      },
      fine: 1,
    };

    expect(redact(value)).to.deep.equal({ broken: '[Unreadable]', fine: 1 });
  });

  it('for proxies that refuse everything, and for revoked ones', () => {
    const refuse = (): never => {
      throw new Error('no');
    };
    const refusing = new Proxy({}, { get: refuse, has: refuse, ownKeys: refuse, getPrototypeOf: refuse });
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();

    expect(redact({ refusing, proxy })).to.deep.equal({ refusing: '[Unreadable]', proxy: '[Unreadable]' });
  });

  it('for endless proxies', () => {
    expect(depthOf(redact(endless()))).to.be.within(10_000, 1_000_000);
  });

  it('for text of 1 MB', () => {
    const text = 'x'.repeat(1024 * 1024);

    expect(redact({ text })).to.deep.equal({ text });
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

  it('for a BigInt with millions of digits', () => {
    expect(redact({ big: 1n << 16_000_000n })).to.deep.equal({ big: '[Cut]' });
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
