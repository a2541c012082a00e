import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect } from 'chai';
import { createTypescriptEngine } from '../../../client/policy/language/index.ts';
import { bigPolicy } from '../../bench/policy.ts';
import { callArbitrary } from './support/arbitrary-call.ts';
import { policyArbitrary } from './support/arbitrary-rules.ts';
import { irOf, moduleOf } from './support/engines.ts';
import { inDirectory, requireWabt, runTool } from './support/wabt.ts';

// The module runs on any host: translated to C by wasm2c it gives the same bytes as the TypeScript engine.

const HOST = new URL('support/foreign-host.c', import.meta.url);
const WASM2C = '/usr/share/wabt/wasm2c';
const CALLS = 300;
const SEED = 7;

describe('a foreign host (wasm2c and C)', () => {
  before(requireWabt);

  const policies = [bigPolicy(), ...fc.sample(policyArbitrary, { numRuns: 2, seed: SEED })];
  for (const [index, policy] of policies.entries()) {
    it(`gives the same bytes for ${CALLS} calls of policy ${index + 1}`, () => {
      const calls = [...fc.sample(callArbitrary, { numRuns: CALLS, seed: SEED + index }), ...bigCalls()];
      const { decideText } = createTypescriptEngine(irOf(policy));

      expect(resultsInC(moduleOf(policy), calls)).to.deep.equal(calls.map(decideText));
    });
  }
});

/** Calls that are rare among random ones: one that fires rules of the big policy, a large one, one too large. */
function bigCalls(): Uint8Array[] {
  const text = (args: object): string => JSON.stringify({ tool: 'tool_1', role: 'role-1', arguments: args });
  const texts = [
    text({ amount: 50.5, path: '/etc/x', note: 'secret-7', to: { country: 'AA' } }),
    text({ note: 'a'.repeat(200_000) }),
    text({ note: 'a'.repeat(300_000) }),
  ];
  return texts.map((one) => new TextEncoder().encode(one));
}

function resultsInC(module: Uint8Array, calls: Uint8Array[]): string[] {
  const output = inDirectory((directory) => {
    writeFileSync(join(directory, 'policy.wasm'), module);
    copyFileSync(HOST, join(directory, 'host.c'));
    runTool(['wasm2c', 'policy.wasm', '-n', 'policy', '-o', 'policy.c'], { directory });
    const sources = ['host.c', 'policy.c', `${WASM2C}/wasm-rt-impl.c`];
    runTool(['gcc', '-O1', '-w', '-I.', `-I${WASM2C}`, '-o', 'host', ...sources, '-lm'], { directory });
    return runTool([join(directory, 'host')], { directory, input: framed(calls) });
  });
  return unframed(output);
}

function framed(calls: Uint8Array[]): Uint8Array {
  return Buffer.concat(
    calls.flatMap((call) => {
      const length = Buffer.alloc(4);
      length.writeUInt32LE(call.length);
      return [length, call];
    }),
  );
}

function unframed(output: Buffer): string[] {
  const results: string[] = [];
  let at = 0;
  while (at < output.length) {
    const end = at + 4 + output.readUInt32LE(at);
    results.push(output.toString('utf8', at + 4, end));
    at = end;
  }
  return results;
}
