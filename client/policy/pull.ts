import { urlOf } from '../config.ts';
import { hasBundle, parseAgentRecord, type FetchedRecord } from './agent-record.ts';
import { parseBearerKey, verifyBearerKey } from './bearer-key.ts';
import { parseJsonObject } from './encoding.ts';
import { httpGet, type Answer } from './http-get.ts';
import { PublicKeys, type KeySet, type KeySetDeps, type KeySource } from './key-set.ts';
import { PolicyError } from '../errors.ts';
import { verifyBundle } from './verify-bundle.ts';

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
};

export type Pulled =
  | { kind: 'unchanged' }
  | { kind: 'fresh'; record: FetchedRecord; etag: string | null; signed: SignedFacts | undefined };

/** From the verified manifest. */
type SignedFacts = { version: number; agentVersionId: string };

/** With the key set it used, for the caller's cache. */
export type PullResult = { pulled: Pulled; keySet: KeySet | undefined };

/** Fetches an agent's record and verifies it in full; throws a PolicyError if that fails. */
export async function pullPolicy(request: PullRequest, deps: KeySetDeps): Promise<PullResult> {
  const publicKeys = new PublicKeys(request, deps);
  const bearerKey = parseBearerKey(request.bearerKey);
  if (request.isFirst) await verifyBearerKey(bearerKey, await publicKeys.find(bearerKey.kid));
  const answer = await fetchAgent(request);
  if (answer.status === 304) return { pulled: { kind: 'unchanged' }, keySet: publicKeys.keySet };
  const record = parseAgentRecord(answer.text);
  const signed = hasBundle(record)
    ? await verify(record, { request, publicKeys, projectId: bearerKey.projectId })
    : undefined;
  return { pulled: { kind: 'fresh', record, etag: answer.etag, signed }, keySet: publicKeys.keySet };
}

type VerifyOptions = { request: PullRequest; publicKeys: PublicKeys; projectId: string };

async function verify(record: FetchedRecord, options: VerifyOptions): Promise<SignedFacts> {
  const { request, publicKeys, projectId } = options;
  const { agentName, heldVersion } = request;
  const publicKey = await publicKeys.find(kidOf(record));
  const { manifest } = await verifyBundle({ record, publicKey, agentName, projectId, heldVersion });
  return { version: manifest.version, agentVersionId: manifest.agent_version_id };
}

async function fetchAgent({ baseUrl, agentName, bearerKey, etag, timeoutMs }: PullRequest): Promise<Answer> {
  const url = urlOf(baseUrl, `/v1/agents/${encodeURIComponent(agentName)}`);
  const condition = etag === undefined ? {} : { 'If-None-Match': etag };
  const headers = { Authorization: `Bearer ${bearerKey}`, ...condition };
  const answer = await httpGet({ url, headers, timeoutMs });
  if (answer.status === 200 || (answer.status === 304 && etag !== undefined)) return answer;
  throw errorOf(answer.status, agentName);
}

function errorOf(status: number, agentName: string): PolicyError {
  if (status === 404) {
    return new PolicyError('agent_unknown', `The platform has no agent ${agentName}; register it first`, {
      status,
    });
  }
  const code = status === 401 ? 'unauthenticated' : 'platform_error';
  return new PolicyError(code, `The request for the policy was answered with ${status}`, { status });
}

/** Names the key to verify with; the signature then proves it. */
function kidOf(record: FetchedRecord): string {
  const { bundle_manifest: manifest } = record;
  const { kid } = parseJsonObject(manifest ?? '', { code: 'bundle_invalid', what: 'The bundle manifest' });
  if (typeof kid === 'string') return kid;
  throw new PolicyError('bundle_invalid', 'The bundle manifest names no signing key');
}
