import type { AgentRecord } from './language/index.ts';
import { PolicyError } from '../errors.ts';

/** Spec 2.5 as it came over the wire or out of a file; nothing of it is trusted yet. */
export type FetchedRecord = AgentRecord & { agent_version_id?: string };

const TEXTS = ['agent_yaml', 'policy_yaml', 'system_md'] as const;
const BUNDLE = ['bundle_wasm_b64', 'bundle_manifest', 'bundle_signature_b64', 'agent_version_id'] as const;

/** Copies the known fields of a record's JSON text, or throws where one has the wrong type. */
export function parseAgentRecord(text: string): FetchedRecord {
  const fields = parseObject(text);
  const record: FetchedRecord = { agent_yaml: '', policy_yaml: '', system_md: '' };
  for (const name of TEXTS) record[name] = textField(fields, name) ?? '';
  for (const name of BUNDLE) {
    const value = textField(fields, name);
    if (value) record[name] = value;
  }
  return record;
}

/** Whether the JSON text of a record has all the texts that record_hash speaks for. */
export function hasAllTexts(text: string): boolean {
  const fields = parseObject(text);
  return TEXTS.every((name) => textField(fields, name) !== undefined);
}

/** Spec 4.11: the module is what may be absent; with it, the rest has to be there and right. */
export function hasBundle(record: AgentRecord): boolean {
  return Boolean(record.bundle_wasm_b64);
}

function parseObject(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  } catch (cause) {
    throw new PolicyError('record_invalid', 'The agent record is not JSON', { cause });
  }
  throw new PolicyError('record_invalid', 'The agent record is not a JSON object');
}

function textField(fields: Record<string, unknown>, name: string): string | undefined {
  const value = fields[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string') return value;
  throw new PolicyError('record_invalid', `The agent record's ${name} is not a string`);
}
