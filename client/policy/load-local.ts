import { readFile } from 'node:fs/promises';
import { hasAllTexts, hasBundle, parseAgentRecord } from './agent-record.ts';
import { parseBearerKey } from './bearer-key.ts';
import { PolicyError } from '../errors.ts';
import { isObject, parsedJson } from '../json.ts';
import { parsePublicKey, type PublicKeyInput } from './public-key.ts';
import { verifyBundle } from './verify-bundle.ts';

/** Plain data, so that it can be sent to a worker. */
export type LoadRequest = {
  path: string;
  agentName: string;
  requireSignature: boolean;
  /** Only for an agent record; not parsed for a policy in YAML. */
  publicKey: PublicKeyInput | undefined;
  bearerKey: string | undefined;
  /** The text in use; the same text is not loaded again. */
  heldText?: string | undefined;
  heldVersion?: number | undefined;
};

export type Loaded =
  | { kind: 'unchanged' }
  | { kind: 'yaml'; text: string; policyYaml: string }
  | { kind: 'bundle'; text: string; module: Uint8Array; version: number; projectId: string };

/** Reads a local policy: YAML, or an agent record in JSON. Throws if it is missing or invalid. */
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
      'The local agent record has no bundle, but a signed bundle is required',
    );
  }
  const projectId = bearerKey === undefined ? undefined : projectOf(bearerKey);
  const isWhole = hasAllTexts(text);
  const bundle = { record, publicKey, agentName, projectId, heldVersion, isWhole };
  const { manifest, module } = await verifyBundle(bundle);
  return { kind: 'bundle', text, module, version: manifest.version, projectId: manifest.project_id };
}

function projectOf(bearerKey: string): string | undefined {
  try {
    return parseBearerKey(bearerKey).projectId;
  } catch {
    // A local policy does not need a key, so an unreadable one counts as none.
    return undefined;
  }
}

/** A policy can be JSON as well; a record has other keys. */
function isRecord(path: string, text: string): boolean {
  const value = parsedJson(text);
  // A .json file that is not JSON is parsed as a record, whose error says what is wrong.
  if (value === undefined) return path.endsWith('.json');
  return isObject(value) && ('policy_yaml' in value || 'bundle_wasm_b64' in value);
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    throw new PolicyError('local_policy_unreadable', `Cannot read the local policy ${path}`, { cause });
  }
}
