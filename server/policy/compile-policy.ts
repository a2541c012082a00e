import { BUNDLE_ABI, type PolicyIr } from '../../client/policy/language/index.ts';
import { BLOB_ADDRESS } from './blob-layout.ts';
import { packPolicy } from './pack-policy.ts';
import { withData } from './wasm-sections.ts';

/** POLICY 3: what is larger has no module, and clients run the text instead. */
export const BLOB_BYTES_MAX = 120 * 1024;

type CompiledPolicy = { module: Uint8Array } | { module: null; absentReason: string };

/** A checked policy -> its module. Pure: the same policy, runtime and record give the same bytes. */
export function compilePolicy({
  ir,
  runtime,
  recordHash,
}: {
  ir: PolicyIr;
  runtime: Uint8Array;
  recordHash: string;
}): CompiledPolicy {
  const data = packPolicy(ir);
  if (data.length > BLOB_BYTES_MAX) {
    const absentReason = `the compiled policy has ${data.length} bytes, and a module takes ${BLOB_BYTES_MAX} at most`;
    return { module: null, absentReason };
  }
  const sections = [
    { name: 'gatehouse.abi', text: String(BUNDLE_ABI) },
    // The hash in the module makes any edit of the record a new module, and so a new ETag.
    { name: 'gatehouse.record', text: recordHash },
  ];
  return { module: withData(runtime, { address: BLOB_ADDRESS, data, sections }) };
}
