import { bytesFromBase64, parseJsonObject } from './encoding.ts';
import { utf8From } from './language/runtime.ts';
import { isSignedBy } from './signature.ts';
import { PolicyError } from '../errors.ts';

/** The claims of a bearer key; not to be trusted before its signature is verified. */
export type BearerKey = { kid: string; projectId: string; signedText: string; signature: Uint8Array };

/** Parses a bearer key without the network; throws `key_malformed`. */
export function parseBearerKey(text: string): BearerKey {
  const [header, claims, signature, ...more] = text.split('.');
  if (header === undefined || claims === undefined || signature === undefined || more.length > 0) {
    throw malformed('it does not have three parts');
  }
  const { alg, kid } = jsonPart(header);
  const { sub } = jsonPart(claims);
  const signatureBytes = bytesFromBase64(signature);
  if (alg !== 'EdDSA' || typeof kid !== 'string') throw malformed('its header names no EdDSA key');
  if (typeof sub !== 'string' || sub === '') throw malformed('it names no project');
  if (signatureBytes === undefined) throw malformed('its signature is not base64url');
  return { kid, projectId: sub, signedText: `${header}.${claims}`, signature: signatureBytes };
}

/** Throws `key_signature_invalid` unless this public key signed the bearer key. */
export async function verifyBearerKey(key: BearerKey, publicKey: Uint8Array): Promise<void> {
  const { signature, signedText } = key;
  if (await isSignedBy(publicKey, { message: utf8From(signedText), signature })) return;
  throw new PolicyError('key_signature_invalid', 'The platform did not sign this bearer key');
}

function jsonPart(part: string): Record<string, unknown> {
  const bytes = bytesFromBase64(part);
  if (bytes === undefined) throw malformed('a part is not base64url');
  const what = 'The bearer key is malformed: a part';
  return parseJsonObject(new TextDecoder().decode(bytes), { code: 'key_malformed', what });
}

/** No message contains the text of the key. */
function malformed(why: string): PolicyError {
  return new PolicyError('key_malformed', `The bearer key is malformed: ${why}`);
}
