import type { RecordParts } from '../../client/policy/language/index.ts';
import type { CompiledPolicy } from './compile-policy.ts';
import { sha256Hex } from '../sha256.ts';
import { manifestText, signManifest, type SigningKey } from './sign-bundle.ts';

type BundleParts = {
  record: RecordParts;
  record_hash: string;
  /** Compiled with that record hash. */
  compiled: CompiledPolicy;
  agent_version_id: string;
  created_at: string;
  /** Without it the bundle does not expire. */
  expires_at?: string | undefined;
};

/** The part of a version that a save stores and a fetch serves. Without a module nothing is signed. */
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

/** Signs one version of an agent. */
export async function makeBundle(
  { record, record_hash, compiled, agent_version_id, created_at, expires_at }: BundleParts,
  key: SigningKey,
): Promise<Bundle> {
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
    expires_at,
  });
  const signature = await signManifest(manifest, key);
  return { kind: 'signed', module, manifest, signature, record_hash, etag: `"${wasm_hash}"` };
}
