import { BUNDLE_ABI, type PolicyIr } from '../../client/policy/language/index.ts';
import { BLOB_ADDRESS } from './blob-layout.ts';
import { packPolicy } from './pack-policy.ts';
import { withData } from './wasm-sections.ts';

/** A larger policy gets no module; clients then evaluate its text. */
export const BLOB_BYTES_MAX = 120 * 1024;

export type CompiledPolicy = { module: Uint8Array } | { module: null; absentReason: string };

type Parts = { ir: PolicyIr; runtime: Uint8Array; recordHash: string };

/** Compiles a valid policy. Pure: the same policy, runtime and record hash give the same bytes. */
export function compilePolicy({ ir, runtime, recordHash }: Parts): CompiledPolicy {
  const data = packPolicy(ir);
  if (data.length > BLOB_BYTES_MAX) {
    const absentReason = `the compiled policy has ${data.length} bytes; a module holds at most ${BLOB_BYTES_MAX}`;
    return { module: null, absentReason };
  }
  const sections = [
    { name: 'gatehouse.abi', text: String(BUNDLE_ABI) },
    // With the record hash in the module, any edit of the record changes the module and so the ETag.
    { name: 'gatehouse.record', text: recordHash },
  ];
  return { module: withData(runtime, { address: BLOB_ADDRESS, data, sections }) };
}
