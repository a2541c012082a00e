import type { PolicyIr, RecordParts } from '../../client/policy/language/index.ts';
import { compilePolicy } from './compile-policy.ts';
import { sha256Hex } from '../sha256.ts';
import { recordHash } from './record-hash.ts';
import { manifestText, signManifest, type SigningKey } from './sign-bundle.ts';

type BundleParts = {
  record: RecordParts;
  ir: PolicyIr;
  agent_version_id: string;
  created_at: string;
};

/** What a save stores and a fetch serves. Without a module nothing is signed. */
export type Bundle =
  | {
      kind: 'signed';
      module: Uint8Array;
      manifest: string;
      signature: string;
      record_hash: string;
      etag: string;
    }
  | { kind: 'absent'; absentReason: string; record_hash: string; etag: string };

/** Compiles and signs one version of an agent. */
export async function makeBundle(
  { record, ir, agent_version_id, created_at }: BundleParts,
  { key, runtime }: { key: SigningKey; runtime: Uint8Array },
): Promise<Bundle> {
  const record_hash = recordHash(record);
  const compiled = compilePolicy({ ir, runtime, recordHash: record_hash });
  if (compiled.module === null) {
    const { absentReason } = compiled;
    return { kind: 'absent', absentReason, record_hash, etag: `"yaml-${record_hash}"` };
  }
  const { module } = compiled;
  const { project_id, agent_name, version } = record;
  const wasm_hash = sha256Hex(module);
  const { kid } = key;
  const manifest = manifestText({
    kid,
    project_id,
    agent_name,
    agent_version_id,
    version,
    wasm_hash,
    record_hash,
    created_at,
  });
  const signature = await signManifest(manifest, key);
  return { kind: 'signed', module, manifest, signature, record_hash, etag: `"${wasm_hash}"` };
}
