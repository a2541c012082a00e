import { bytesFromBase64 } from './encoding.ts';
import { recordHashText, utf8From, type AgentRecord, type BundleManifest } from './language/runtime.ts';
import { parseManifest } from './parse-manifest.ts';
import { PolicyError, type PolicyErrorCode } from '../errors.ts';
import { isSignedBy, sha256Hex } from './signature.ts';

export type BundleToVerify = {
  record: AgentRecord;
  /** 32 raw bytes. */
  publicKey: Uint8Array;
  agentName: string;
  /** The project of the bearer key, if known. */
  projectId?: string | undefined;
  /** The version in use, on a refresh. */
  heldVersion?: number | undefined;
  /** False for a local file that lacks some of the texts, so that record_hash cannot be checked. */
  isWhole?: boolean | undefined;
  /** For the expiry; default the system's clock. */
  nowMs?: number | undefined;
};

type VerifiedBundle = { manifest: BundleManifest; module: Uint8Array };

/**
 * Verifies signature, module, record, agent, project, version and expiry, in this order (docs/policy.md, "Bundle").
 * Throws a PolicyError whose code names the first check that failed.
 */
export async function verifyBundle(bundle: BundleToVerify): Promise<VerifiedBundle> {
  const { record, publicKey, agentName, projectId, heldVersion, isWhole = true, nowMs = Date.now() } = bundle;
  const { text, signature, module } = bundleParts(record);
  if (!(await isSignedBy(publicKey, { message: utf8From(text), signature })))
    refuse('signature_invalid', 'is not signed by the trusted key');
  const manifest = parseManifest(text);
  await checkHash(module, manifest.wasm_hash, 'wasm_hash_mismatch');
  if (isWhole) {
    const { agent_yaml, policy_yaml, system_md } = record;
    const recordText = recordHashText({ ...manifest, agent_yaml, policy_yaml, system_md });
    await checkHash(utf8From(recordText), manifest.record_hash, 'record_hash_mismatch');
  }
  if (manifest.agent_name !== agentName)
    refuse('agent_mismatch', `belongs to the agent ${manifest.agent_name}`);
  if (projectId !== undefined && manifest.project_id !== projectId) {
    refuse('project_mismatch', `belongs to the project ${manifest.project_id}`);
  }
  if (heldVersion !== undefined && manifest.version < heldVersion) {
    refuse('version_rollback', `has version ${manifest.version}, but version ${heldVersion} is in use`);
  }
  // Not `<=`: a clock that is replaced may answer NaN.
  if (manifest.expires_at !== undefined && !(nowMs < Date.parse(manifest.expires_at)))
    refuse(
      'bundle_expired',
      `expired at ${manifest.expires_at}; save or register the agent to sign it again`,
    );
  return { manifest, module };
}

/** The decoded parts; throws `bundle_incomplete` if one is missing. */
export function bundleParts(record: AgentRecord): {
  text: string;
  signature: Uint8Array;
  module: Uint8Array;
} {
  const { bundle_manifest: text, bundle_signature_b64, bundle_wasm_b64 } = record;
  if (!text || !bundle_signature_b64 || !bundle_wasm_b64) {
    refuse('bundle_incomplete', 'lacks its module, its manifest or its signature');
  }
  const signature = bytesFromBase64(bundle_signature_b64);
  if (signature === undefined) refuse('signature_invalid', 'has a signature that is not base64');
  const module = bytesFromBase64(bundle_wasm_b64);
  if (module === undefined) refuse('wasm_hash_mismatch', 'has a module that is not base64');
  return { text, signature, module };
}

async function checkHash(bytes: Uint8Array, expected: string, code: PolicyErrorCode): Promise<void> {
  if ((await sha256Hex(bytes)) !== expected) refuse(code, 'does not match the hash in its manifest');
}

function refuse(code: PolicyErrorCode, why: string): never {
  throw new PolicyError(code, `The bundle ${why}`);
}
