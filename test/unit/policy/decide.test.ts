import { expect } from 'chai';
import { callTextFrom, type PolicyCall } from '../../../client/policy/language/index.ts';
import { cpuMs } from '../../support/cpu-time.ts';
import { enginesOf } from './support/engines.ts';

// `decide` takes a call as a value. Both engines write it as the same text, and never throw.

const engines = enginesOf(`version: 1
tools: [t]
roles: {"*": {allow: [t]}}
rules:
  - {id: big, when: {arg: a, eq: 9007199254740993}, effect: deny, reason: Big.}
  - {id: text, when: {arg: a, eq: spoken}, effect: deny, reason: Spoken.}
  - {id: present, when: {arg: a, exists: true}, effect: needs_approval, reason: Present.}
`);

function reasonsFor(call: unknown): string[] {
  const decision = engines.typescript.decide(call as PolicyCall);
  expect(engines.wasm.decide(call as PolicyCall)).to.deep.equal(decision);
  return decision.violations;
}

function withArgument(a: unknown): string[] {
  return reasonsFor({ tool: 't', arguments: { a } });
}

const PRESENT = ['present: Present.'];

describe('decide', () => {
  it('writes a BigInt as its digits', () => {
    expect(withArgument(9_007_199_254_740_993n)).to.deep.equal(['big: Big.', ...PRESENT]);
    expect(withArgument(9_007_199_254_740_992n)).to.deep.equal(PRESENT);
    expect(withArgument(Object(9_007_199_254_740_993n))).to.deep.equal(['big: Big.', ...PRESENT]);
  });

  it('honours toJSON', () => {
    expect(withArgument({ toJSON: () => 'spoken' })).to.deep.equal(['text: Spoken.', ...PRESENT]);
    expect(withArgument(new Date(0))).to.deep.equal(PRESENT);
    expect(withArgument({ toJSON: () => undefined })).to.deep.equal([]);
  });

  it('omits undefined members', () => {
    expect(withArgument(undefined)).to.deep.equal([]);
    expect(reasonsFor({ tool: 't', role: undefined, arguments: undefined })).to.deep.equal([]);
  });

  it('ignores other keys of the call', () => {
    expect(reasonsFor({ tool: 't', run: () => 1, self: Number.NaN })).to.deep.equal([]);
  });

  it('denies NaN, infinities, functions and symbols as bad_call', () => {
    const values = [NaN, Infinity, -Infinity, () => 1, Symbol('s'), [NaN], { x: new Number(NaN) }];
    for (const value of values) expect(withArgument(value)).to.deep.equal(['bad_call']);
  });

  it('denies cycles and values that throw as bad_call', () => {
    const cycle: Record<string, unknown> = {};
    cycle['self'] = [cycle];
    const refuse = () => {
      throw new Error('no');
    };
    const thrower = Object.defineProperty({}, 'a', { get: refuse, enumerable: true });
    const revoked = Proxy.revocable({}, {});
    revoked.revoke();

    for (const value of [cycle, thrower, revoked.proxy, { toJSON: refuse }])
      expect(withArgument(value)).to.deep.equal(['bad_call']);
  });

  it('accepts shared references', () => {
    const shared = { x: 1 };
    expect(withArgument([shared, shared])).to.deep.equal(PRESENT);
  });

  it('denies a small graph that unfolds without end as too_large', () => {
    let graph: unknown = [];
    for (let level = 0; level < 40; level += 1) graph = [graph, graph];
    expect(withArgument(graph)).to.deep.equal(['too_large']);
  });

  it('writes small typed arrays and buffers as JSON.stringify does', () => {
    for (const value of [new Uint8Array([1, 2]), Buffer.from('ab')])
      expect(callTextFrom({ tool: 't', arguments: { value } })).to.deep.equal({
        ok: true,
        text: JSON.stringify({ tool: 't', arguments: { value } }),
      });
    expect(withArgument(new Uint8Array(10_000))).to.deep.equal(PRESENT);
    // JSON.stringify writes {} for all of these.
    for (const value of [new DataView(new ArrayBuffer(2)), new ArrayBuffer(2)])
      expect(withArgument(value)).to.deep.equal(['bad_call']);
  });

  it('denies large typed arrays without listing them', () => {
    const sparse: unknown[] = [];
    sparse.length = 4e9;
    const unsaid = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`k${index}`, undefined]));
    const values = {
      bytes: new Uint8Array(4_000_000),
      buffer: Buffer.alloc(16_000_000),
      sparse,
      text: 'x'.repeat(2 ** 28),
      bigint: 1n << 16_000_000n,
      unsaid: Array.from({ length: 2_000 }, () => unsaid),
    };
    for (const [what, value] of Object.entries(values)) {
      let kinds: unknown;
      const tookMs = cpuMs(() => (kinds = withArgument(value)));

      expect(kinds, what).to.deep.equal(['too_large']);
      expect(tookMs, what).to.be.below(1_000);
    }
  });

  it('denies deep nesting and lone surrogates as bad_json', () => {
    let deep: unknown = [];
    for (let level = 0; level < 100; level += 1) deep = [deep];
    expect(withArgument(deep)).to.deep.equal(['bad_json']);
    expect(withArgument('\ud800')).to.deep.equal(['bad_json']);
  });

  it('denies anything that is not a call as bad_call', () => {
    const broken = [{ tool: 1 }, { tool: 't', role: null }, { tool: 't', arguments: [] }];
    for (const call of [undefined, null, 1, 'x', [], {}, ...broken])
      expect(reasonsFor(call)).to.deep.equal(['bad_call']);
  });

  it('does not find names of a prototype', () => {
    expect(reasonsFor({ tool: '__proto__' })).to.deep.equal(['unknown_tool']);
    expect(reasonsFor({ tool: 't', role: 'constructor' })).to.deep.equal([]);
  });
});
