import { BUNDLE_ABI, BUNDLE_FORMAT, type BundleManifest } from './language/runtime.ts';
import { parseJsonObject } from './encoding.ts';
import { PolicyError } from '../errors.ts';

const SHA256_HEX = /^[0-9a-f]{64}$/;

type Field = (value: unknown) => boolean;
const isText: Field = (value) => typeof value === 'string';
const isHash: Field = (value) => typeof value === 'string' && SHA256_HEX.test(value);
const isVersion: Field = (value) => Number.isSafeInteger(value) && Number(value) >= 1;
const isTime: Field = (value) => typeof value === 'string' && !Number.isNaN(Date.parse(value));

const FIELDS: readonly [keyof BundleManifest, Field][] = [
  ['format', (value) => value === BUNDLE_FORMAT],
  ['kid', isText],
  ['project_id', isText],
  ['agent_name', isText],
  ['agent_version_id', isText],
  ['version', isVersion],
  ['abi', (value) => value === BUNDLE_ABI],
  ['wasm_hash', isHash],
  ['record_hash', isHash],
  ['created_at', isText],
  ['expires_at', (value) => value === undefined || isTime(value)],
];

/** Parses a manifest whose signature is verified. */
export function parseManifest(text: string): BundleManifest {
  const manifest = parseJsonObject(text, { code: 'manifest_invalid', what: 'The bundle manifest' });
  for (const [name, isGood] of FIELDS) {
    const value = Object.hasOwn(manifest, name) ? manifest[name] : undefined;
    if (!isGood(value)) throw new PolicyError('manifest_invalid', `The bundle manifest has no valid ${name}`);
  }
  return manifest as BundleManifest;
}
