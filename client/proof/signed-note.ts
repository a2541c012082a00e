import { hashes, verify } from '@noble/ed25519';
import { sha512 } from '@noble/hashes/sha2.js';
import { utf8From } from '../policy/language/utf8.ts';
import { base64From, bytesFromStrictBase64, concat } from './bytes.ts';
import { ProofError } from './proof-error.ts';
import { isKeyName, type VerifierKey } from './verifier-key.ts';

/** One signature of a note. Those of witnesses begin with their time. */
export type NoteSignature = { name: string; keyId: number; signature: Uint8Array };
/** A text and its signatures (C2SP signed-note). `body` ends with a newline. */
export type SignedNote = { body: string; signatures: NoteSignature[] };

const KEY_ID_BYTES = 4;
const TIME_BYTES = 8;

/** Throws a ProofError for a text that is not a signed note. */
export function parseNote(text: string): SignedNote {
  const end = text.lastIndexOf('\n\n');
  // oxlint-disable-next-line no-control-regex -- the format forbids them
  if (end === -1 || /[\u0000-\u0009\u000b-\u001f]/.test(text) || !text.isWellFormed())
    throw new ProofError('The text is not a signed note');
  return { body: text.slice(0, end + 1), signatures: parseSignatures(text.slice(end + 2)) };
}

/** Parses one or more lines of signatures, each with its newline. */
export function parseSignatures(text: string): NoteSignature[] {
  const lines = text.split('\n');
  if (lines.pop() !== '' || lines.length === 0)
    throw new ProofError('A note has one or more lines of signatures, each with its newline');
  return lines.map((line) => {
    const [, name = '', encoded = ''] = /^— (\S+) (\S+)$/u.exec(line) ?? [];
    const bytes = bytesFromStrictBase64(encoded);
    if (!isKeyName(name) || bytes === undefined || bytes.length <= KEY_ID_BYTES)
      throw new ProofError(`"${line.slice(0, 100)}" is not a signature of a note`);
    const keyId = new DataView(bytes.buffer).getUint32(0);
    return { name, keyId, signature: bytes.slice(KEY_ID_BYTES) };
  });
}

/** The line of a signature, with its newline. */
export function signatureLine({ name, keyId, signature }: NoteSignature): string {
  const id = new Uint8Array(KEY_ID_BYTES);
  new DataView(id.buffer).setUint32(0, keyId);
  return `— ${name} ${base64From(concat(id, signature))}\n`;
}

export function noteText({ body, signatures }: SignedNote): string {
  return `${body}\n${signatures.map(signatureLine).join('')}`;
}

/**
 * The verified signatures by this key. Empty when the note has none. As C2SP recommends, one invalid signature by the key makes the note
 * invalid and throws a ProofError.
 */
export function signaturesBy(key: VerifierKey, { body, signatures }: SignedNote): NoteSignature[] {
  const own = signatures.filter(({ name, keyId }) => name === key.name && keyId === key.keyId);
  if (!own.every(({ signature }) => holds(key, { body, signature })))
    throw new ProofError(`A signature by ${key.name} does not hold`);
  return own;
}

function holds(key: VerifierKey, { body, signature }: { body: string; signature: Uint8Array }): boolean {
  if (key.type === 'ed25519') return isSigned(key.publicKey, { message: body, signature });
  const seconds = cosignedAt(signature);
  if (seconds === undefined) return false;
  const message = cosignedMessage(body, seconds);
  return isSigned(key.publicKey, { message, signature: signature.subarray(TIME_BYTES) });
}

/** The message that a witness signs for a note (C2SP tlog-cosignature, cosignature/v1). The time is in seconds since the epoch. */
export function cosignedMessage(body: string, seconds: number): string {
  return `cosignature/v1\ntime ${seconds}\n${body}`;
}

/** The signature of a witness: its time, then the Ed25519 signature of `cosignedMessage`. */
export function cosignatureFrom(seconds: number, ed25519Signature: Uint8Array): Uint8Array {
  const time = new Uint8Array(TIME_BYTES);
  new DataView(time.buffer).setBigUint64(0, BigInt(seconds));
  return concat(time, ed25519Signature);
}

/** When a witness signed, in seconds since the epoch; undefined for an impossible time. */
export function cosignedAt(signature: Uint8Array): number | undefined {
  if (signature.length <= TIME_BYTES) return undefined;
  const view = new DataView(signature.buffer, signature.byteOffset, signature.length);
  const seconds = Number(view.getBigUint64(0));
  return Number.isSafeInteger(seconds) ? seconds : undefined;
}

/** Ed25519 (RFC 8032). In JavaScript, because WebCrypto is missing on pages over plain HTTP and lacks Ed25519 in older browsers. */
function isSigned(
  publicKey: Uint8Array,
  { message, signature }: { message: string; signature: Uint8Array },
): boolean {
  hashes.sha512 ??= (bytes) => Uint8Array.from(sha512(bytes));
  try {
    return verify(signature, utf8From(message), publicKey, { zip215: false });
  } catch {
    // The library throws for malformed keys and signatures.
    return false;
  }
}
