import { urlOf } from '../config.ts';
import { hasBundle, parseAgentRecord, type FetchedRecord } from './agent-record.ts';
import { parseBearerKey, verifyBearerKey, type BearerKey } from './bearer-key.ts';
import { parseJsonObject } from './encoding.ts';
import { httpRequest, refusalOf, type Answer } from './http-request.ts';
import { PolicyError } from '../errors.ts';
import { SigningKeys, type KeySource } from './signing-keys.ts';
import type { TrustedKeys } from './successions.ts';
import { bundleParts, verifyBundle } from './verify-bundle.ts';

/** Plain data, so that it can be sent to a worker. */
export type PullRequest = KeySource & {
  agentName: string;
  bearerKey: string;
  /** The first pull verifies the bearer key, too. */
  isFirst: boolean;
  /** Sent as If-None-Match. */
  etag?: string | undefined;
  /** The version in use; an older one is refused. */
  heldVersion?: number | undefined;
  nowMs: number;
};

export type Pulled =
  | { kind: 'unchanged' }
  | { kind: 'fresh'; record: FetchedRecord; etag: string | null; signed: SignedFacts | undefined };

/** From the verified bundle. */
type SignedFacts = {
  module: Uint8Array;
  kid: string;
  version: number;
  wasmHash: string;
  agentVersionId: string;
  expiresAtMs: number | undefined;
};

export type PullResult = {
  pulled: Pulled;
  /** The keys trusted before, and those that this pull added. */
  trusted: TrustedKeys | undefined;
  warnings: readonly KeyWarning[];
};

type KeyWarning = { message: string; context: Record<string, unknown> };

/** Fetches an agent's record and verifies it in full; throws a PolicyError if that fails. */
export async function pullPolicy(request: PullRequest): Promise<PullResult> {
  const keys = new SigningKeys(request);
  const bearerKey = parseBearerKey(request.bearerKey);
  if (request.isFirst) await verifyBearerKey(bearerKey, await keys.find(bearerKey.kid, 'The bearer key'));
  const answer = await fetchAgent(request);
  if (answer.status === 304) return { pulled: { kind: 'unchanged' }, trusted: keys.trusted, warnings: [] };
  const record = parseAgentRecord(answer.text);
  const signed = hasBundle(record) ? await verify(record, { request, keys, bearerKey }) : undefined;
  const pulled = { kind: 'fresh', record, etag: tagOf(answer.etag, signed), signed } as const;
  const warnings: KeyWarning[] = keys.successors.map((kid) => successionWarning(kid, request));
  // The bearer key did not come from the key set, so its signer is the better witness.
  const isFirstUse = signed !== undefined && request.trusted === undefined;
  if (isFirstUse && !(await keys.isVouchedFor(signed.kid, bearerKey.kid)))
    warnings.push(firstUseWarning(signed.kid, request));
  return { pulled, trusted: keys.trusted, warnings };
}

/**
 * The tag of an answer. Null if it is not a single tag, or belongs to another module. It is not signed: with such a tag, the client would
 * be told forever that nothing has changed.
 */
function tagOf(etag: string | null, signed: SignedFacts | undefined): string | null {
  const [, tag] = /^(?:W\/)?"([^"]*)"$/.exec(etag ?? '') ?? [];
  const isOfAnother = signed && /^[0-9a-f]{64}$/.test(tag ?? '') && tag !== signed.wasmHash;
  return tag === undefined || isOfAnother ? null : etag;
}

type VerifyOptions = { request: PullRequest; keys: SigningKeys; bearerKey: BearerKey };

async function verify(
  record: FetchedRecord,
  { request, keys, bearerKey }: VerifyOptions,
): Promise<SignedFacts> {
  const { agentName, heldVersion, nowMs } = request;
  const publicKey = await keys.find(kidOf(record), 'The policy');
  const { projectId } = bearerKey;
  const bundle = { record, publicKey, agentName, projectId, heldVersion, nowMs };
  const { manifest, module } = await verifyBundle(bundle);
  const { kid, version, wasm_hash: wasmHash, agent_version_id: agentVersionId, expires_at } = manifest;
  const expiresAtMs = expires_at === undefined ? undefined : Date.parse(expires_at);
  return { module, kid, version, wasmHash, agentVersionId, expiresAtMs };
}

function successionWarning(kid: string, { baseUrl, trusted }: PullRequest): KeyWarning {
  const context = { kid, trusted_before: [...(trusted?.keys() ?? [])], base_url: baseUrl };
  return { message: 'The service signs with a new key, which a trusted key vouches for', context };
}

function firstUseWarning(kid: string, { baseUrl }: PullRequest): KeyWarning {
  const message =
    'The key that signed the policy is trusted on first use alone: the signer of the bearer key does not vouch for it';
  return { message, context: { kid, base_url: baseUrl } };
}

async function fetchAgent({ baseUrl, agentName, bearerKey, etag, timeoutMs }: PullRequest): Promise<Answer> {
  const url = urlOf(baseUrl, `/v1/agents/${encodeURIComponent(agentName)}`);
  const condition = etag === undefined ? {} : { 'If-None-Match': etag };
  const headers = { Authorization: `Bearer ${bearerKey}`, ...condition };
  const answer = await httpRequest({ url, headers, timeoutMs });
  if (answer.status === 200 || (answer.status === 304 && etag !== undefined)) return answer;
  if (answer.status !== 404) throw refusalOf('The request for the policy', answer, bearerKey);
  const message = `The platform has no agent ${agentName}; register it first`;
  throw new PolicyError('agent_unknown', message, { status: 404 });
}

/** Names the key to verify with; the signature then proves it. */
function kidOf(record: FetchedRecord): string {
  const { text } = bundleParts(record);
  const { kid } = parseJsonObject(text, { code: 'bundle_invalid', what: 'The bundle manifest' });
  if (typeof kid === 'string') return kid;
  throw new PolicyError('bundle_invalid', 'The bundle manifest names no signing key');
}
