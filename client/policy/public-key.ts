import { PolicyError } from '../errors.ts';
import { isObject } from '../json.ts';
import { base64urlFrom, bytesFromBase64 } from './encoding.ts';
import { utf8From } from './language/runtime.ts';
import { sha256 } from './signature.ts';

/** An Ed25519 public key: base64 of its 32 bytes, or a JWK as an object or as JSON text. */
export type PublicKeyInput = string | { kty?: string; crv?: string; x?: string };

const KEY_BYTES = 32;

/** The 32 raw bytes of a public key; throws `public_key_invalid`. */
export function parsePublicKey(input: PublicKeyInput): Uint8Array {
  const bytes = typeof input === 'object' ? bytesOfJwk(input) : bytesOfText(input.trim());
  if (bytes?.byteLength === KEY_BYTES) return bytes;
  throw new PolicyError(
    'public_key_invalid',
    'The public key is neither base64 of 32 bytes nor an Ed25519 JWK',
  );
}

function bytesOfText(text: string): Uint8Array | undefined {
  if (!text.startsWith('{')) return bytesFromBase64(text);
  try {
    return bytesOfJwk(JSON.parse(text));
  } catch (cause) {
    throw new PolicyError('public_key_invalid', 'The public key looks like a JWK but is not JSON', { cause });
  }
}

/** The bytes of an Ed25519 JWK; undefined for any other value. */
export function bytesOfJwk(value: unknown): Uint8Array | undefined {
  const { kty, crv, x } = isObject(value) ? value : {};
  if (kty !== 'OKP' || crv !== 'Ed25519' || typeof x !== 'string') return undefined;
  const bytes = bytesFromBase64(x);
  return bytes?.byteLength === KEY_BYTES ? bytes : undefined;
}

/** The kid of a public key: its thumbprint (RFC 7638). */
export async function thumbprintOf(key: Uint8Array): Promise<string> {
  const text = JSON.stringify({ crv: 'Ed25519', kty: 'OKP', x: base64urlFrom(key) });
  return base64urlFrom(await sha256(utf8From(text)));
}
