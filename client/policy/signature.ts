import { verifyAsync } from '@noble/ed25519';

/** Whether this Ed25519 key (32 raw bytes) signed the message. False for a missing key. */
export async function isSignedBy(
  publicKey: Uint8Array | undefined,
  { message, signature }: { message: Uint8Array; signature: Uint8Array },
): Promise<boolean> {
  if (publicKey === undefined) return false;
  try {
    // RFC 8032, not the looser ZIP 215 that is the library's default.
    return await verifyAsync(signature, message, publicKey, { zip215: false });
  } catch {
    // The library throws for malformed keys and signatures.
    return false;
  }
}

export async function sha256Hex(bytes: Uint8Array): Promise<string> {
  return Array.from(await sha256(bytes), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

export async function sha256(bytes: Uint8Array): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', Uint8Array.from(bytes)));
}
