import { createHash } from 'node:crypto';
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import { createWasmEngine } from '../../../client/pure.ts';
import { forEachTest } from '../../support/for-each-test.ts';
import { conditionally, resigned, type SignedRecord } from '../../support/platform.ts';
import { AGENT_ROUTE, startPolicyWorld } from '../../support/policy-world.ts';
import { temporaryFile } from '../../support/temporary-file.ts';
import { withoutWebAssembly } from '../../support/without-web-assembly.ts';

describe('a module is compiled and instantiated before it is installed', () => {
  const world = forEachTest(startPolicyWorld);

  /** The record with another module under a good signature. */
  const withModule = (record: SignedRecord, module: Uint8Array): Promise<SignedRecord> => {
    const wasm_hash = createHash('sha256').update(module).digest('hex');
    const bundle_wasm_b64 = Buffer.from(module).toString('base64');
    return resigned({ ...record, bundle_wasm_b64 }, { wasm_hash }, world.signer);
  };

  it('resolve throws for a signed module that cannot run', async () => {
    const record = await withModule(world.v1, Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0));
    world.mock.on(AGENT_ROUTE, conditionally(record));
    const localPolicy = await temporaryFile('record.json', JSON.stringify(record));

    expect((await world.faultOf({ key: world.key })).code).to.equal('module_invalid');
    expect((await world.faultOf({ localPolicy, publicKey: world.signer.publicKey })).code).to.equal(
      'module_invalid',
    );
  });

  it('a refresh keeps the policy in use and its ETag, warns, and asks again', async () => {
    const source = await world.resolveByKey();
    const { policy, etag } = source;
    world.mock.on(AGENT_ROUTE, conditionally(await withModule(world.v2, Uint8Array.of(1, 2, 3))));
    await source.refresh();
    source.refreshSync();

    expect(source.policy).to.equal(policy);
    expect(source.etag).to.equal(etag);
    expect(world.logger.at('warn')).to.have.length(2);
    expect(world.logger.lines[0]?.context?.problem).to.match(/module cannot run/);
    world.mock.on(AGENT_ROUTE, conditionally(world.v2));
    await source.refresh();
    expect(source.agentVersionId).to.equal('v-2');
  });

  it('runs where the global ArrayBuffer is not that of WebAssembly, as in Jest', () => {
    const module = Buffer.from(world.v1.bundle_wasm_b64, 'base64');
    const { ArrayBuffer } = globalThis;
    globalThis.ArrayBuffer = runInNewContext('ArrayBuffer') as typeof ArrayBuffer;
    try {
      expect(createWasmEngine(module).decide({ tool: 'search' }).outcome).to.equal('allow');
    } finally {
      globalThis.ArrayBuffer = ArrayBuffer;
    }
  });

  it('a runtime without WebAssembly is an error for a bundle, and none for a policy in YAML', async () => {
    // Node's own fetch needs WebAssembly when it is first used.
    await world.resolveByKey();
    const fault = await withoutWebAssembly(() => world.faultOf({ key: world.key }));
    const policy = 'version: 1\ntools: []\nroles: {}\nrules: []\n';

    expect(fault.code).to.equal('wasm_unavailable');
    expect((await withoutWebAssembly(() => world.resolve({ policy }))).origin).to.equal('built-in');
  });
});
