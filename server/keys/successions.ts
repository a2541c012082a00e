import type { KeyObject } from 'node:crypto';
import { jwtVerify, SignJWT } from 'jose';
import { publicKeyOf, type PublicJwk } from './signing-keys.ts';

/** The new root key, signed by the previous one. Published (docs/policy.md, "Trust"). */
export const SUCCESSION = 'gatehouse-succession+jwt';
/** The previous root key, signed by the next one. Not published: it keeps a retired key in the key set. */
export const ACKNOWLEDGEMENT = 'gatehouse-acknowledgement+jwt';
const ISSUER = 'gatehouse';

type Signer = { kid: string; privateKey: KeyObject };
export type Type = typeof SUCCESSION | typeof ACKNOWLEDGEMENT;

/** A compact JWS (RFC 7515) by which one root key vouches for another. */
export function vouch(signer: Signer, jwk: PublicJwk, { typ, nowMs }: { typ: Type; nowMs: number }) {
  return new SignJWT({ key: jwk })
    .setProtectedHeader({ alg: 'EdDSA', typ, kid: signer.kid })
    .setIssuer(ISSUER)
    .setIssuedAt(Math.floor(nowMs / 1000))
    .sign(signer.privateKey);
}

/** The key that the JWS vouches for, if this key signed it; else undefined. */
export async function vouchedKey(jws: string, by: KeyObject, typ: Type): Promise<PublicJwk | undefined> {
  try {
    const options = { algorithms: ['EdDSA'], issuer: ISSUER, typ };
    const { payload } = await jwtVerify<{ key?: { x?: unknown } }>(jws, by, options);
    return await publicKeyOf(String(payload.key?.x));
  } catch {
    // A row without a valid signature or key vouches for nothing.
    return undefined;
  }
}
