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
  | { kind: 'signed'; module: Uint8Array; manifest: string; signature: string; etag: string }
  | { kind: 'absent'; absentReason: string; etag: string };

/** Signs one version of an agent. */
export async function makeBundle(
  { record, compiled, ...identity }: BundleParts,
  key: SigningKey,
): Promise<Bundle> {
  if (compiled.module === null) {
    return { kind: 'absent', absentReason: compiled.absentReason, etag: `"yaml-${identity.record_hash}"` };
  }
  const { module } = compiled;
  const wasm_hash = sha256Hex(module);
  const manifest = manifestText({ ...record, ...identity, kid: key.kid, wasm_hash });
  const signature = await signManifest(manifest, key);
  return { kind: 'signed', module, manifest, signature, etag: `"${wasm_hash}"` };
}
