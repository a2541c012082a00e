import { expect } from 'chai';
import { govern, type GovernedAgent, PolicyDeniedError, redact } from '../../../client/index.ts';
import { temporaryFile } from '../../support/temporary-file.ts';

const POLICY = `version: 1
tools: [read]
roles: {"*": {allow: [read]}}
rules:
  - {id: etc, effect: deny, reason: Not there., when: {arg: path, starts_with: /etc/}}
  - {id: small, effect: deny, reason: Too much., require: {any: [{arg: lines, exists: false}, {arg: lines, lte: 10}]}}
`;

type Read = { path: string; lines?: number };
type Tools = { read: (args: unknown) => unknown };

class Place {
  path = '/tmp/x';
  name() {
    return this.path;
  }
}

describe('a governed tool gets the arguments that were decided on', () => {
  let got: Read[];
  let agent: GovernedAgent<unknown, unknown>;
  beforeEach(async () => {
    got = [];
    const localPolicy = await temporaryFile('policy.yaml', POLICY);
    const tools: Tools = {
      read: (args) => {
        const { path, lines } = args as Read;
        got.push({ path, ...(lines === undefined ? {} : { lines }) });
        return args;
      },
    };
    const read = {
      name: 'reader',
      tools,
      run: (context: { tools: Partial<Tools> }, args: unknown) => context.tools.read?.(args),
    };
    agent = await govern<unknown, unknown>(read, { localPolicy, bindPolicy: true });
  });

  const denialOf = async (args: unknown): Promise<string[]> => {
    const error: unknown = await agent.run(args).catch((caught: unknown) => caught);
    expect(error).to.be.instanceOf(PolicyDeniedError);
    return (error as PolicyDeniedError).violations as string[];
  };

  it('reads a getter once', async () => {
    let reads = 0;
    const args = {
      get path() {
        reads += 1;
        return reads === 1 ? '/tmp/x' : '/etc/x';
      },
    };
    await agent.run(args);

    expect(got).to.deep.equal([{ path: '/tmp/x' }]);
    expect(reads).to.equal(1);
  });

  it('reads a property of a proxy once, at every depth', async () => {
    let asked = 0;
    const shifty = (target: object): object =>
      new Proxy(target, {
        get: (of, key) =>
          key === 'lines' ? (asked += 1) && (asked === 1 ? 3 : 1000) : (Reflect.get(of, key) as unknown),
      });
    await agent.run(shifty({ path: '/tmp/x', lines: 3 }));
    const nested = (await agent.run({ path: '/tmp/y', deep: [shifty({ lines: 3 })] })) as {
      deep: [{ lines: number }];
    };

    expect(got).to.deep.equal([{ path: '/tmp/x', lines: 3 }, { path: '/tmp/y' }]);
    expect([nested.deep[0].lines, nested.deep[0].lines]).to.deep.equal([1000, 1000]);
  });

  it('omits inherited and non-enumerable properties', async () => {
    await agent.run(Object.defineProperty({}, 'path', { value: '/etc/x', enumerable: false }));
    await agent.run(Object.create(Object.assign(Object.create(null), { path: '/etc/x' })));

    expect(got).to.deep.equal([{ path: undefined }, { path: undefined }]);
  });

  it('decides on what toJSON returns, and passes that to the tool', async () => {
    await agent.run({ path: '/etc/x', toJSON: () => ({ path: '/tmp/x' }) });

    expect(got).to.deep.equal([{ path: '/tmp/x' }]);
    expect(await denialOf({ path: '/tmp/x', toJSON: () => ({ path: '/etc/x' }) })).to.deep.equal([
      'etc: Not there.',
    ]);
  });

  it('denies objects with state outside of their own properties as bad_call', async () => {
    class Hidden {
      get path() {
        return '/etc/x';
      }
    }
    const accessor = Object.defineProperty(new Place(), 'path', { get: () => '/etc/x', enumerable: true });
    const values = {
      map: new Map([['path', '/etc/x']]),
      set: new Set(['/etc/x']),
      inherited: Object.create({ path: '/etc/x' }) as object,
      getter: new Hidden(),
      accessor,
      error: new Error('/etc/x'),
      headers: new Headers({ path: '/etc/x' }),
      promise: Promise.resolve('/etc/x'),
      weak: new WeakMap(),
    };
    for (const [name, value] of Object.entries(values)) {
      expect(await denialOf(value), name).to.deep.equal(['bad_call']);
      expect(await denialOf({ path: '/tmp/x', more: value }), `${name} within`).to.deep.equal(['bad_call']);
    }
    expect(got).to.deep.equal([]);
  });

  it('rebuilds dates, URLs, buffers and typed arrays, and passes instances of classes as their data', async () => {
    const objects = { at: new Date(0), bytes: Buffer.from('x'), url: new URL('http://x') };
    const arrays = { wide: new Float64Array([0.5, -0]), big: new BigInt64Array([-1n]) };
    const args = { path: '/tmp/y', small: new Uint8Array(2), n: 3n, ...objects, ...arrays };
    const given = (await agent.run({ ...args, again: objects.url })) as typeof args & { again: URL };

    expect(given).to.deep.equal({ ...args, again: objects.url });
    expect(given.again).to.equal(given.url);
    for (const name of ['at', 'bytes', 'url', 'small', 'wide', 'big'] as const)
      expect(given[name], name).to.not.equal(args[name]);
    expect(Buffer.isBuffer(given.bytes)).to.equal(true);
    expect(await agent.run(new Place())).to.deep.equal({ path: '/tmp/x' });
    expect(await denialOf(Object.assign(new Place(), { path: '/etc/x' }))).to.deep.equal(['etc: Not there.']);
  });

  it('keeps what was decided on when the caller changes its URL, date or bytes while the tool runs', async () => {
    const args = {
      path: '/tmp/y',
      url: new URL('https://good.example/'),
      at: new Date(0),
      bytes: Buffer.of(1),
    };
    const given = (await agent.run(args)) as typeof args;
    args.url.host = 'evil.example';
    args.at.setTime(1);
    args.bytes[0] = 2;

    expect(given.url.href).to.equal('https://good.example/');
    expect([given.at.getTime(), given.bytes[0]]).to.deep.equal([0, 1]);
  });

  it('rebuilds the dates of fake timers, and those from before', async () => {
    const { Date } = globalThis;
    class FakeDate extends Date {
      constructor(...parts: [number]) {
        super(...parts);
        Object.defineProperty(this, 'constructor', { value: Date, enumerable: false });
      }
    }
    const at = new Date(0);
    globalThis.Date = FakeDate as DateConstructor;
    try {
      const given = (await agent.run({ at, fake: new FakeDate(1) })) as { at: Date; fake: Date };

      expect([given.at.getTime(), given.fake.getTime()]).to.deep.equal([0, 1]);
    } finally {
      globalThis.Date = Date;
    }
  });

  it('reads members whose names are frozen, or setters, in Object.prototype', async () => {
    const args = { path: '/tmp/x', lines: 1 };
    const { prototype } = Object;
    for (const inherited of [{ value: 'frozen' }, { set: () => undefined }]) {
      Object.defineProperty(prototype, 'lines', { ...inherited, configurable: true });
      try {
        expect(Object.getOwnPropertyDescriptor(await agent.run(args), 'lines')?.value).to.equal(1);
        expect(Object.getOwnPropertyDescriptor(redact(args), 'lines')?.value).to.equal(1);
      } finally {
        Reflect.deleteProperty(prototype, 'lines');
      }
    }
  });

  it('denies objects that only pretend to be a date, a URL or a typed array', async () => {
    const bytes = Array.from({ length: 200 }, () => new Uint8Array(2_000));

    for (const type of [Date, URL, Uint8Array])
      expect(await denialOf({ path: '/tmp/x', odd: Object.create(type.prototype) as object })).to.deep.equal([
        'bad_call',
      ]);
    expect(await denialOf({ path: '/tmp/x', bytes })).to.deep.equal(['too_large']);
  });

  it('passes the decided arguments although an object could change later', async () => {
    class Speaker {
      path = '/etc/x';
      toJSON() {
        return { path: '/tmp/x' };
      }
    }
    class Secret {
      #path = '/etc/x';
      path = '/tmp/x';
      reveal() {
        return this.#path;
      }
    }
    let asked = 0;
    const shifty = new Proxy(new Place(), {
      get: (of, key) => (key === 'path' && (asked += 1) > 1 ? '/etc/x' : (Reflect.get(of, key) as unknown)),
    });
    const inner = Object.defineProperty({}, 'path', { value: '/etc/x' });
    class Bytes extends Uint8Array {
      toJSON() {
        return [1];
      }
    }
    const spoken = Object.assign(new Date(0), { toJSON: () => '/tmp/x', path: '/etc/x' });

    for (const [args, given] of [
      [new Speaker(), { path: '/tmp/x' }],
      [new Secret(), { path: '/tmp/x' }],
      [shifty, { path: '/tmp/x' }],
      [Object.assign(new Place(), { inner }), { path: '/tmp/x', inner: {} }],
      [
        { at: spoken, n: new Number(3), bytes: new Bytes(9) },
        { at: '/tmp/x', n: 3, bytes: [1] },
      ],
    ])
      expect(await agent.run(args)).to.deep.equal(given);
  });

  it('denies values that throw, never end or are too large', async () => {
    const refuse = () => {
      throw new Error('no');
    };
    const thrower = Object.defineProperty({}, 'path', { get: refuse, enumerable: true });
    const cycle: Record<string, unknown> = { path: '/tmp/x' };
    cycle['self'] = cycle;
    const deep = JSON.parse(`${'['.repeat(50_000)}${']'.repeat(50_000)}`) as unknown;
    const sparse: unknown[] = [];
    sparse.length = 4e9;
    const endless = new Proxy([1], {
      get: (list, key): unknown => (key === 'length' ? NaN : Reflect.get(list, key)),
    });

    expect(await denialOf(thrower)).to.deep.equal(['bad_call']);
    expect(await denialOf(cycle)).to.deep.equal(['bad_call']);
    expect(await denialOf({ deep })).to.deep.equal(['bad_json']);
    expect(await denialOf({ sparse })).to.deep.equal(['too_large']);
    expect(await denialOf({ endless })).to.deep.equal(['bad_call']);
    expect(await denialOf('text')).to.deep.equal(['bad_call']);
    expect(got).to.deep.equal([]);
  });

  it('preserves shared references, and treats __proto__ as data', async () => {
    const shared = { x: 1 };
    const args = JSON.parse('{"path": "/tmp/x", "__proto__": {"path": "/etc/x"}}') as Record<string, unknown>;
    const given = (await agent.run({ ...args, one: shared, two: shared })) as { one: object; two: object };
    const own = await agent.run(args);

    expect(given.one).to.equal(given.two);
    expect(given.one).not.to.equal(shared);
    expect(JSON.stringify(own)).to.equal(JSON.stringify(args));
  });
});
