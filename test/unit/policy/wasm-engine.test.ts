import { expect } from 'chai';
import { PolicyError } from '../../../client/errors.ts';
import { createWasmEngine } from '../../../client/policy/wasm-engine.ts';
import { moduleOf } from './support/engines.ts';
import { withoutWebAssembly } from '../../support/without-web-assembly.ts';
import { moduleFromText } from './support/wabt.ts';

// A failure inside a module denies the call, and the next call gets a new instance.

const FAILED =
  '{"outcome":"deny","reason":"The policy engine failed.","violations":["engine_failed"],"hint":{"code":"engine_failed"}}';

/** A module with the four exports; `body` is what evaluate does, `result` the text at address 1024. */
type Fake = { body?: string; result?: string; length?: number; abi?: number };

function fake({ body = '(i32.const 1024)', result = '{}', length, abi = 1 }: Fake): Uint8Array {
  const said = length ?? result.length;
  const size = [said & 255, (said >> 8) & 255, (said >> 16) & 255, said >>> 24];
  const bytes = size.map((byte) => `\\${byte.toString(16).padStart(2, '0')}`).join('');
  return moduleFromText(`(module
    (memory (export "memory") 3 96)
    (global $calls (mut i32) (i32.const 0))
    (func (export "abi_version") (result i32) (i32.const ${abi}))
    (func (export "alloc") (param i32) (result i32) (i32.const 4096))
    (func (export "evaluate") (param i32 i32) (result i32) ${body})
    (data (i32.const 1024) "${bytes}${result.replaceAll('"', '\\22')}"))`);
}

const LACKING = `(module (memory (export "memory") 1)
  (func (export "abi_version") (result i32) (i32.const 1))
  (func (export "alloc") (param i32) (result i32) (i32.const 8)))`;

const ALLOW = '{"outcome":"allow","reason":"","violations":[],"hint":null}';

describe('the engine over a module', () => {
  it('returns a decision of the module', () => {
    const engine = createWasmEngine(fake({ result: ALLOW }));

    expect(engine.decideText('{}')).to.equal(ALLOW);
    expect(engine.decide({ tool: 't' }).outcome).to.equal('allow');
  });

  const broken: [string, () => Uint8Array][] = [
    ['bytes that are no module', () => Uint8Array.of(1, 2, 3)],
    ['no bytes', () => new Uint8Array()],
    ['another abi', () => fake({ result: ALLOW, abi: 2 })],
    ['a module that wants imports', () => moduleFromText('(module (import "a" "b" (func)))')],
    ['a module without exports', () => moduleFromText('(module)')],
    ['a start function that traps', () => moduleFromText('(module (func $f unreachable) (start $f))')],
    ['a module that lacks one export', () => moduleFromText(LACKING)],
  ];

  for (const [what, module] of broken) {
    it(`refuses at its creation: ${what}`, () => {
      expect(() => createWasmEngine(module()))
        .to.throw(PolicyError)
        .with.property('code', 'module_invalid');
    });
  }

  it('refuses at its creation in a runtime without WebAssembly', () => {
    withoutWebAssembly(() => {
      expect(() => createWasmEngine(fake({ result: ALLOW })))
        .to.throw(PolicyError)
        .with.property('code', 'wasm_unavailable');
    });
  });

  const failures: [string, () => Uint8Array][] = [
    ['a trap', () => fake({ body: 'unreachable' })],
    ['a result outside of memory', () => fake({ body: '(i32.const -8)' })],
    ['a result longer than memory', () => fake({ result: ALLOW, length: 0x7fff_ffff })],
    ['a result that is no JSON', () => fake({ result: 'allow' })],
    ['a result of another shape', () => fake({ result: '{"outcome":"allow"}' })],
    ['an unknown outcome', () => fake({ result: ALLOW.replace('allow', 'maybe') })],
    ['a violation that is no text', () => fake({ result: ALLOW.replace('[]', '[1]') })],
    ['a hint that is a list', () => fake({ result: ALLOW.replace('null', '[]') })],
    ['one key more', () => fake({ result: ALLOW.replace('null}', 'null,"x":1}') })],
  ];

  for (const [what, module] of failures) {
    it(`denies: ${what}`, () => {
      const engine = createWasmEngine(module());

      expect(engine.decideText('{"tool":"t"}')).to.equal(FAILED);
      expect(engine.decide({ tool: 't' })).to.deep.equal(JSON.parse(FAILED));
    });
  }

  it('runs the next call after a trap on a new instance', () => {
    // The second call on one instance traps; a new instance starts counting again.
    const body = `(global.set $calls (i32.add (global.get $calls) (i32.const 1)))
      (if (i32.gt_u (global.get $calls) (i32.const 1)) (then unreachable)) (i32.const 1024)`;
    const engine = createWasmEngine(fake({ body, result: ALLOW }));

    const texts = Array.from({ length: 4 }, () => engine.decideText('{}'));

    expect(texts).to.deep.equal([ALLOW, FAILED, ALLOW, FAILED]);
  });

  it('reads memory that grows during a call', () => {
    const rule = '{id: r, when: {arg: a, ends_with: z}, effect: deny, reason: R.}';
    const policy = `version: 1\ntools: [t]\nroles: {"*": {allow: [t]}}\nrules: [${rule}]\n`;
    const engine = createWasmEngine(moduleOf(policy));
    for (const length of [10, 20_000, 100_000, 250_000, 10]) {
      const call = (end: string): string => `{"tool":"t","arguments":{"a":"${'a'.repeat(length)}${end}"}}`;

      expect(JSON.parse(engine.decideText(call('z')))).to.have.property('outcome', 'deny');
      expect(JSON.parse(engine.decideText(call('y')))).to.have.property('outcome', 'allow');
    }
  });
});
