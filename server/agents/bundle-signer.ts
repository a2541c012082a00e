import { verify } from 'node:crypto';
import type { Logger } from 'pino';
import type { BundleManifest } from '../../client/policy/language/index.ts';
import type { RootKeys } from '../keys/root-keys.ts';
import { recordHash } from '../policy/record-hash.ts';
import { manifestText, type SigningKey, signManifest } from '../policy/sign-bundle.ts';
import { sha256Hex } from '../sha256.ts';
import type { AgentVersion } from './agent-version.ts';
import type { PolicyMaker } from './policy-maker.ts';
import { DAY_MS } from '../durations.ts';

type BundleSignerOptions = {
  signingKey: SigningKey;
  rootKeys: Pick<RootKeys, 'find' | 'isSuccessor'>;
  policyMaker: PolicyMaker;
  /** How long a signed bundle is valid; undefined: forever. */
  daysMax: number | undefined;
  logger: Logger | undefined;
  now: () => number;
};

/** Signs stored bundles again (docs/policy.md, "Bundle"). */
export class BundleSigner {
  readonly #options: BundleSignerOptions;

  constructor(options: BundleSignerOptions) {
    this.#options = options;
  }

  /** When a bundle that is signed now expires. */
  expiresAt(): string | undefined {
    const { daysMax, now } = this.#options;
    return daysMax === undefined ? undefined : new Date(now() + daysMax * DAY_MS).toISOString();
  }

  /** When a version must be signed again because of its expiry: halfway to it, or immediately if the setting changed. */
  dueAtMs(version: AgentVersion): number {
    const { daysMax } = this.#options;
    const expiresAtMs = expiryOf(version);
    if (version.bundle_manifest === '') return Number.POSITIVE_INFINITY;
    if (daysMax === undefined) return expiresAtMs === undefined ? Number.POSITIVE_INFINITY : 0;
    return expiresAtMs === undefined ? 0 : expiresAtMs - (daysMax * DAY_MS) / 2;
  }

  /**
   * The version with a new signature, or undefined if it needs none: it is not signed at all, its signature is by the current root key or a
   * later one, or nothing vouches for its content.
   */
  async signAgain(version: AgentVersion): Promise<AgentVersion | undefined> {
    const { signingKey, rootKeys, logger, now } = this.#options;
    const { kid } = manifestOf(version);
    if (kid === undefined) return undefined;
    if (kid === signingKey.kid && this.dueAtMs(version) > now()) return undefined;
    // A rotation has replaced this process's key. Signatures by the new key are kept.
    if (kid !== signingKey.kid && (await rootKeys.isSuccessor(kid))) return undefined;
    if (!(await this.#isSound(version))) {
      const { project_id, agent_name, version: number } = version;
      const context = { project_id, agent_name, version: number, kid };
      logger?.warn(
        context,
        'The bundle was not signed again: no trusted key signed what the store has. Save the agent',
      );
      return undefined;
    }
    const wasm_hash = sha256Hex(moduleOf(version));
    const fields = { ...version, kid: signingKey.kid, wasm_hash, record_hash: recordHash(version) };
    const bundle_manifest = manifestText({ ...fields, expires_at: this.expiresAt() });
    const bundle_signature_b64 = await signManifest(bundle_manifest, signingKey);
    // Later than the previous signature, even if the clocks of two processes differ.
    const signed_at = new Date(Math.max(now(), Date.parse(version.signed_at) + 1)).toISOString();
    return { ...version, bundle_manifest, bundle_signature_b64, signed_at };
  }

  /**
   * Write access to the store must not be enough to obtain a signature: a trusted key must have signed this version, or its texts must
   * compile to its module.
   */
  async #isSound(version: AgentVersion): Promise<boolean> {
    const module = moduleOf(version);
    if (version.etag !== `"${sha256Hex(module)}"`) return false;
    return (await this.#isSigned(version)) || this.#isCompiled(version);
  }

  async #isSigned(version: AgentVersion): Promise<boolean> {
    const { kid, wasm_hash, record_hash, agent_version_id } = manifestOf(version);
    const publicKey = await this.#options.rootKeys.find(kid ?? '');
    const signature = Buffer.from(version.bundle_signature_b64, 'base64');
    if (publicKey === undefined) return false;
    if (!verify(null, Buffer.from(version.bundle_manifest), publicKey, signature)) return false;
    const isSameId = agent_version_id === version.agent_version_id;
    return isSameId && version.etag === `"${wasm_hash}"` && record_hash === recordHash(version);
  }

  async #isCompiled(version: AgentVersion): Promise<boolean> {
    const { project_id, policy_yaml, etag } = version;
    const policy = { policy_yaml, recordHash: recordHash(version), isOwnText: false };
    const made = await this.#options.policyMaker.compile(project_id, policy);
    return made.ok && made.compiled.module !== null && etag === `"${sha256Hex(made.compiled.module)}"`;
  }
}

/** In milliseconds; undefined for a bundle that does not expire. */
export function expiryOf(version: AgentVersion): number | undefined {
  const { expires_at } = manifestOf(version);
  return expires_at === undefined ? undefined : Date.parse(expires_at);
}

/** The content of a stored manifest, verified or not. */
function manifestOf({ bundle_manifest }: AgentVersion): Partial<BundleManifest> {
  return bundle_manifest === '' ? {} : (JSON.parse(bundle_manifest) as Partial<BundleManifest>);
}

function moduleOf({ bundle_wasm_b64 }: AgentVersion): Buffer {
  return Buffer.from(bundle_wasm_b64, 'base64');
}
