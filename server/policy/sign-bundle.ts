import { signAsync } from '@noble/ed25519';
import {
  BUNDLE_ABI,
  BUNDLE_FORMAT,
  utf8From,
  type BundleManifest,
} from '../../client/policy/language/index.ts';

/** The 32-byte seed of an Ed25519 key and its kid in the key set. */
export type SigningKey = { kid: string; seed: Uint8Array };

type ManifestFields = Omit<BundleManifest, 'format' | 'abi' | 'expires_at'> & {
  expires_at?: string | undefined;
};

/** The exact text that is signed: these keys, in this order. */
export function manifestText(fields: ManifestFields): string {
  const manifest: BundleManifest = {
    format: BUNDLE_FORMAT,
    kid: fields.kid,
    project_id: fields.project_id,
    agent_name: fields.agent_name,
    agent_version_id: fields.agent_version_id,
    version: fields.version,
    abi: BUNDLE_ABI,
    wasm_hash: fields.wasm_hash,
    record_hash: fields.record_hash,
    created_at: fields.created_at,
    ...(fields.expires_at === undefined ? {} : { expires_at: fields.expires_at }),
  };
  return JSON.stringify(manifest);
}

/** Ed25519 over the UTF-8 bytes of the manifest, in base64. */
export async function signManifest(manifest: string, { seed }: SigningKey): Promise<string> {
  return Buffer.from(await signAsync(utf8From(manifest), seed)).toString('base64');
}
