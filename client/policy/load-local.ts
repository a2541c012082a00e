import { readFile } from 'node:fs/promises';
import { hasAllTexts, hasBundle, parseAgentRecord } from './agent-record.ts';
import { parseBearerKey } from './bearer-key.ts';
import type { AgentRecord } from './language/index.ts';
import { PolicyError } from '../errors.ts';
import { parsePublicKey, type PublicKeyInput } from './public-key.ts';
import { verifyBundle } from './verify-bundle.ts';

/** Plain data both ways, like a pull. */
export type LoadRequest = {
  path: string;
  agentName: string;
  requireSignature: boolean;
  /** Read only for an agent record: a policy in YAML needs none, not even a good one. */
  publicKey: PublicKeyInput | undefined;
  bearerKey: string | undefined;
  /** The text in hand; the same text is not loaded again. */
  heldText?: string | undefined;
  heldVersion?: number | undefined;
};

export type Loaded =
  | { kind: 'unchanged' }
  | { kind: 'yaml'; text: string; policyYaml: string }
  | { kind: 'bundle'; text: string; record: AgentRecord; version: number };

/** Reads a local override: policy YAML, or an agent record as JSON; throws when anything about it is wrong. */
export async function loadLocal(request: LoadRequest): Promise<Loaded> {
  const text = await readText(request.path);
  if (text === request.heldText) return { kind: 'unchanged' };
  if (!isRecord(request.path, text)) return { kind: 'yaml', text, policyYaml: text };
  return loadRecord(request, text);
}

async function loadRecord(request: LoadRequest, text: string): Promise<Loaded> {
  const record = parseAgentRecord(text);
  const { agentName, bearerKey, heldVersion, requireSignature } = request;
  if (request.publicKey === undefined)
    throw new PolicyError('public_key_missing', 'A local agent record needs a pinned public key');
  const publicKey = parsePublicKey(request.publicKey);
  if (!hasBundle(record)) {
    if (!requireSignature && heldVersion === undefined)
      return { kind: 'yaml', text, policyYaml: record.policy_yaml };
    throw new PolicyError(
      'bundle_missing',
      'The local agent record has no bundle, and a signed one is required',
    );
  }
  const projectId = bearerKey === undefined ? undefined : projectOf(bearerKey);
  const isWhole = hasAllTexts(text);
  const { manifest } = await verifyBundle({ record, publicKey, agentName, projectId, heldVersion, isWhole });
  return { kind: 'bundle', text, record, version: manifest.version };
}

function projectOf(bearerKey: string): string | undefined {
  try {
    return parseBearerKey(bearerKey).projectId;
  } catch {
    // The local override does without the platform, so that a key for it that cannot be read is one not known.
    return undefined;
  }
}

/** JSON is YAML, too: what tells a record from a policy are its keys, or the name of a file that does not parse. */
function isRecord(path: string, text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return (
      typeof value === 'object' && value !== null && ('policy_yaml' in value || 'bundle_wasm_b64' in value)
    );
  } catch {
    // Then it is YAML, unless it says that it is JSON: parsing it as a record names the fault.
    return path.endsWith('.json');
  }
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    throw new PolicyError('local_policy_unreadable', `The local policy ${path} cannot be read`, { cause });
  }
}
