import { verifyAsync } from '@noble/ed25519';
import { bytesFromBase64 } from './base64.ts';
import { PolicyError } from '../errors.ts';

/** What a bearer key says about itself; true only once its signature is verified. */
type BearerKey = { kid: string; projectId: string; signedText: string; signature: Uint8Array };

/** Reads a bearer key without the network, or throws `key_malformed`. */
export function parseBearerKey(text: string): BearerKey {
  const [header, claims, signature, ...more] = text.split('.');
  if (header === undefined || claims === undefined || signature === undefined || more.length > 0) {
    throw malformed('it has no three parts');
  }
  const { alg, kid } = jsonPart(header);
  const { sub } = jsonPart(claims);
  const signatureBytes = bytesFromBase64(signature);
  if (alg !== 'EdDSA' || typeof kid !== 'string') throw malformed('its header names no EdDSA key');
  if (typeof sub !== 'string' || sub === '') throw malformed('it names no project');
  if (signatureBytes === undefined) throw malformed('its signature is not base64url');
  return { kid, projectId: sub, signedText: `${header}.${claims}`, signature: signatureBytes };
}

/** Spec 5: clients verify bearer keys, too. Throws `key_signature_invalid`. */
export async function verifyBearerKey(key: BearerKey, publicKey: Uint8Array): Promise<void> {
  if (await isSigned(key, publicKey)) return;
  throw new PolicyError('key_signature_invalid', 'The bearer key is not signed by the platform');
}

async function isSigned({ signature, signedText }: BearerKey, publicKey: Uint8Array): Promise<boolean> {
  try {
    return await verifyAsync(signature, new TextEncoder().encode(signedText), publicKey);
  } catch {
    // Bytes that are no signature or no key at all throw instead of answering false.
    return false;
  }
}

function jsonPart(part: string): Record<string, unknown> {
  const bytes = bytesFromBase64(part);
  if (bytes === undefined) throw malformed('a part is not base64url');
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(bytes));
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    throw malformed('a part is not JSON');
  }
}

/** The text of the key goes into no message. */
function malformed(why: string): PolicyError {
  return new PolicyError('key_malformed', `The bearer key is malformed: ${why}`);
}
