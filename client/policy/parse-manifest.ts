import { BUNDLE_ABI, BUNDLE_FORMAT, type BundleManifest } from './language/index.ts';
import { PolicyError } from '../errors.ts';

const SHA256_HEX = /^[0-9a-f]{64}$/;

type Field = (value: unknown) => boolean;
const isText: Field = (value) => typeof value === 'string';
const isHash: Field = (value) => typeof value === 'string' && SHA256_HEX.test(value);
const isVersion: Field = (value) => Number.isSafeInteger(value) && Number(value) >= 1;

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
];

/** The manifest of a text whose signature is good: a signed text of another kind is still refused. */
export function parseManifest(text: string): BundleManifest {
  const manifest = parseObject(text);
  for (const [name, isGood] of FIELDS) {
    if (!Object.hasOwn(manifest, name) || !isGood(manifest[name])) {
      throw new PolicyError('manifest_invalid', `The bundle manifest has no valid ${name}`);
    }
  }
  return manifest as BundleManifest;
}

function parseObject(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  } catch (cause) {
    throw new PolicyError('manifest_invalid', 'The bundle manifest is not JSON', { cause });
  }
  throw new PolicyError('manifest_invalid', 'The bundle manifest is not a JSON object');
}
