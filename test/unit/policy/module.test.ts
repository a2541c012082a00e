import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import * as layout from '../../../server/policy/blob-layout.ts';
import { BLOB_BYTES_MAX, compilePolicy } from '../../../server/policy/compile-policy.ts';
import { loadRuntime } from '../../../server/policy/load-runtime.ts';
import { bigPolicy } from '../../bench/policy.ts';
import { inProcess } from '../../support/in-process.ts';
import { hashOfModule, irOf, moduleOf, RECORD_HASH } from './support/engines.ts';
import { inDirectory, requireWabt, runTool } from './support/wabt.ts';

// The module interface (docs/policy.md), tested from outside.

type Described = { name: string; kind: string };
type ModuleApi = {
  new (bytes: Uint8Array): object;
  imports(module: object): Described[];
  exports(module: object): Described[];
  customSections(module: object, name: string): ArrayBuffer[];
};
const { Module } = (globalThis as unknown as { WebAssembly: { Module: ModuleApi } }).WebAssembly;

const ROOT = new URL('../../../', import.meta.url);
const POLICY = 'version: 1\ntools: [t]\nroles: {"*": {allow: [t]}}\n';

describe('a policy module', () => {
  before(requireWabt);

  const module = moduleOf(POLICY);

  it('imports nothing and exports exactly four things', () => {
    const compiled = new Module(module);

    expect(Module.imports(compiled)).to.deep.equal([]);
    expect(
      Module.exports(compiled)
        .map(({ name, kind }) => `${kind} ${name}`)
        .sort(),
    ).to.deep.equal(['function abi_version', 'function alloc', 'function evaluate', 'memory memory']);
  });

  it('names its ABI version and its record in custom sections', () => {
    const compiled = new Module(module);
    const section = (name: string): string[] =>
      Module.customSections(compiled, name).map((bytes) => Buffer.from(bytes).toString());

    expect(section('gatehouse.abi')).to.deep.equal(['1']);
    expect(section('gatehouse.record')).to.deep.equal([RECORD_HASH]);
  });

  it('is valid, and has no start, no table, no element and no float instruction', () => {
    const { headers, code } = inDirectory((directory) => {
      writeFileSync(join(directory, 'm.wasm'), moduleOf(bigPolicy()));
      runTool(['wasm-validate', '--disable-simd', '--disable-reference-types', 'm.wasm'], { directory });
      return {
        headers: String(runTool(['wasm-objdump', '-h', '-x', 'm.wasm'], { directory })),
        code: String(runTool(['wasm-objdump', '-d', 'm.wasm'], { directory })),
      };
    });

    expect(headers).to.contain('memory[0] pages: initial=3 max=96');
    expect(headers).to.not.match(/^ *(Start|Table|Elem|Import) /m);
    expect(code).to.contain('i32.load');
    expect(code).to.not.match(/\bf(32|64)\b|\bf(32|64)\./);
  });

  it('starts with the runtime whose hash the repository records', () => {
    const runtime = loadRuntime();
    const recorded = readFileSync(new URL('server/policy/runtime/runtime.sha256', ROOT), 'utf8').trim();

    expect(createHash('sha256').update(runtime).digest('hex')).to.equal(recorded);
    expect(Buffer.from(module.subarray(0, runtime.length)).equals(runtime)).to.equal(true);
  });

  it('is the same in another process', async () => {
    const file = new URL('support/engines.ts', import.meta.url);

    expect(await inProcess(file, 'hashOfModule', bigPolicy())).to.equal(hashOfModule(bigPolicy()));
  });

  it('changes with the record', () => {
    const other = moduleOf(POLICY, 'f'.repeat(64));

    expect(other.length).to.equal(module.length);
    expect(Buffer.from(other).equals(module)).to.equal(false);
  });

  it('is absent, with the reason, when the policy takes more than 120 KiB', () => {
    // Three thousand short literals take 4 bytes of text and 14 of a module each.
    const rule = (index: number): string => {
      const literals = Array.from({ length: 256 }, (_, item) => (index * 256 + item).toString(36));
      return `  - {id: r${index}, effect: deny, reason: R., when: {arg: a, contains: ["${literals.join('","')}"]}}`;
    };
    const text = `${POLICY}rules:\n${Array.from({ length: 34 }, (_, index) => rule(index)).join('\n')}\n`;

    const compiled = compilePolicy({ ir: irOf(text), runtime: loadRuntime(), recordHash: RECORD_HASH });

    expect(compiled.module).to.equal(null);
    expect(compiled)
      .to.have.property('absentReason')
      .that.matches(/has \d+ bytes; a module holds at most 122880/);
    expect(BLOB_BYTES_MAX).to.equal(122_880);
  });

  it('reports what to do if the runtime is missing', () => {
    expect(() => loadRuntime(new URL('nowhere.wasm', ROOT))).to.throw('run "npm run build"');
  });
});

describe('the layout of a blob', () => {
  it('is the same for the packer and the runtime', () => {
    const source = readFileSync(new URL('server/policy/runtime/assembly/layout.ts', ROOT), 'utf8');
    const constants = [...source.matchAll(/export const (\w+): \w+ = (\w+);/g)];
    const numbers = new Map(constants.map(([, name, value]) => [name, Number(value)]));
    const { HEAD, NODE, OPERATOR, FLAG, RELATION, BLOB_ADDRESS, EFFECT_DENY } = layout;
    const groups = Object.entries({ NODE, OPERATOR, FLAG, RELATION }).flatMap(([group, values]) =>
      Object.entries(values).map(([name, value]) => [`${group}_${name}`, value] as const),
    );
    const packers = [...Object.entries({ ...HEAD, BLOB: BLOB_ADDRESS, EFFECT_DENY }), ...groups];

    for (const [name, value] of packers) expect(numbers.get(name), name).to.equal(value);
    expect(Math.max(...Object.values(layout.HEAD))).to.equal((layout.HEAD_WORDS - 1) * 4);
  });
});
