import type { AgentRecord } from './language/runtime.ts';
import { parseJsonObject } from './encoding.ts';
import { PolicyError } from '../errors.ts';

/** An agent record from the wire or a file, not verified yet. */
export type FetchedRecord = AgentRecord & { agent_version_id?: string; version?: number };

const TEXTS = ['agent_yaml', 'policy_yaml', 'system_md'] as const;
const BUNDLE = ['bundle_wasm_b64', 'bundle_manifest', 'bundle_signature_b64', 'agent_version_id'] as const;

/** Parses a record's JSON text; throws if a known field has the wrong type. */
export function parseAgentRecord(text: string): FetchedRecord {
  const fields = parseRecordFields(text);
  const record: FetchedRecord = { agent_yaml: '', policy_yaml: '', system_md: '' };
  for (const name of TEXTS) record[name] = textField(fields, name) ?? '';
  for (const name of BUNDLE) {
    const value = textField(fields, name);
    if (value) record[name] = value;
  }
  if (Number.isSafeInteger(fields['version'])) record.version = fields['version'] as number;
  return record;
}

/** Whether a record's JSON text has all the texts that record_hash covers. */
export function hasAllTexts(text: string): boolean {
  const fields = parseRecordFields(text);
  return TEXTS.every((name) => textField(fields, name) !== undefined);
}

/** A record may have no bundle at all. If it has one part of it, it must have all others. */
export function hasBundle(record: AgentRecord): boolean {
  return Boolean(record.bundle_wasm_b64 || record.bundle_manifest || record.bundle_signature_b64);
}

function parseRecordFields(text: string): Record<string, unknown> {
  return parseJsonObject(text, { code: 'record_invalid', what: 'The agent record' });
}

function textField(fields: Record<string, unknown>, name: string): string | undefined {
  const value = fields[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string') return value;
  throw new PolicyError('record_invalid', `The agent record's ${name} is not a string`);
}
