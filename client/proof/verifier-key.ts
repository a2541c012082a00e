import { sha256 } from '@noble/hashes/sha2.js';
import { utf8From } from '../policy/language/utf8.ts';
import { base64From, bytesFromStrictBase64, concat } from './bytes.ts';
import { ProofError } from './proof-error.ts';

/** The signature types of C2SP signed-note that are known here: of logs, and of witnesses (cosignature/v1). */
const SIGNATURE_TYPES = { ed25519: 0x01, cosignature: 0x04 } as const;
export type SignatureType = keyof typeof SIGNATURE_TYPES;

/** A key that verifies signatures of notes. keyId is a hint (32 bits), not a hash to rely on. */
export type VerifierKey = { name: string; keyId: number; type: SignatureType; publicKey: Uint8Array };

const PUBLIC_KEY_BYTES = 32;

export function verifierKeyFrom({ name, type, publicKey }: Omit<VerifierKey, 'keyId'>): VerifierKey {
  if (!isKeyName(name)) throw new ProofError(`"${name}" is not a name of a key`);
  if (publicKey.length !== PUBLIC_KEY_BYTES) throw new ProofError('An Ed25519 public key has 32 bytes');
  const hash = sha256(concat(utf8From(`${name}\n`), Uint8Array.of(SIGNATURE_TYPES[type]), publicKey));
  return { name, keyId: new DataView(hash.buffer).getUint32(0), type, publicKey };
}

/** The key as text: `<name>+<key id in hex>+<base64 of the type and the public key>`. */
export function verifierKeyText({ name, keyId, type, publicKey }: VerifierKey): string {
  const material = base64From(concat(Uint8Array.of(SIGNATURE_TYPES[type]), publicKey));
  return `${name}+${keyId.toString(16).padStart(8, '0')}+${material}`;
}

/** Throws a ProofError for a text that is no key, a key of another type, and a key id that does not belong to the key. */
export function parseVerifierKey(text: string): VerifierKey {
  const [, name = '', , material = ''] = /^([^+]+)\+([0-9a-f]{8})\+(.+)$/s.exec(text) ?? [];
  const [code, ...publicKey] = bytesFromStrictBase64(material) ?? [];
  if (name === '' || code === undefined)
    throw new ProofError('A verifier key has the form <name>+<8 hex digits>+<base64>');
  const type = (Object.keys(SIGNATURE_TYPES) as SignatureType[]).find((one) => SIGNATURE_TYPES[one] === code);
  if (type === undefined) throw new ProofError(`The signature type ${code} of the verifier key is not known`);
  const key = verifierKeyFrom({ name, type, publicKey: Uint8Array.from(publicKey) });
  if (verifierKeyText(key) !== text)
    throw new ProofError('The key id of the verifier key is not that of its key');
  return key;
}

/** Not empty, without spaces, control characters and plus signs. */
export function isKeyName(name: string): boolean {
  return name !== '' && !/[\s\p{White_Space}\p{Cc}+]/u.test(name) && name.isWellFormed();
}
