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
  /** Without it, the bundle does not expire. */
  expires_at?: string | undefined;
};

/** The part of a version that a save stores and a fetch serves. */
type Bundle = Record<'bundle_wasm_b64' | 'bundle_manifest' | 'bundle_signature_b64' | 'etag', string>;

const ABSENT = { bundle_wasm_b64: '', bundle_manifest: '', bundle_signature_b64: '' };

/** Signs one version of an agent. Without a module nothing is signed, and `absentReason` says why. */
export async function makeBundle(
  { record, compiled, ...identity }: BundleParts,
  key: SigningKey,
): Promise<Bundle & { absentReason?: string }> {
  if (compiled.module === null)
    return { ...ABSENT, absentReason: compiled.absentReason, etag: `"yaml-${identity.record_hash}"` };
  const wasm_hash = sha256Hex(compiled.module);
  const bundle_manifest = manifestText({ ...record, ...identity, kid: key.kid, wasm_hash });
  const bundle_signature_b64 = await signManifest(bundle_manifest, key);
  const bundle_wasm_b64 = Buffer.from(compiled.module).toString('base64');
  return { bundle_wasm_b64, bundle_manifest, bundle_signature_b64, etag: `"${wasm_hash}"` };
}
