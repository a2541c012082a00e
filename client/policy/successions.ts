import { parsedJson } from '../json.ts';
import { SUCCESSIONS_MAX } from '../limits.ts';
import { bytesFromBase64 } from './encoding.ts';
import { utf8From } from './language/runtime.ts';
import { bytesOfJwk, thumbprintOf } from './public-key.ts';
import { isSignedBy } from './signature.ts';

/** Public keys by kid. Plain data, so that it can be sent to a worker. */
export type TrustedKeys = ReadonlyMap<string, Uint8Array>;

/** One key vouches for the next: a compact JWS (RFC 7515) of the old key over the JWK of the new one. */
type Succession = { from: string; to: string; key: Uint8Array; message: Uint8Array; signature: Uint8Array };

const TYPE = 'gatehouse-succession+jwt';

/**
 * The keys of a chain of successions that begins at a trusted key and ends at `kid`; undefined without such a chain. Invalid
 * successions are ignored.
 */
export async function followSuccessions(
  kid: string,
  { trusted, successions }: { trusted: TrustedKeys; successions: readonly string[] },
): Promise<TrustedKeys | undefined> {
  const known = new Map(trusted);
  const valid = new Map<string, Succession>();
  let untried = await parseAll(successions);
  while (!known.has(kid)) {
    const next = untried.filter(({ from }) => known.has(from));
    if (next.length === 0) return undefined;
    untried = untried.filter((succession) => !next.includes(succession));
    for (const succession of next) {
      const { from, to, key } = succession;
      if (known.has(to) || !(await isSignedBy(known.get(from), succession))) continue;
      known.set(to, key);
      valid.set(to, succession);
    }
  }
  const chain = new Map<string, Uint8Array>();
  for (let at = valid.get(kid); at !== undefined; at = valid.get(at.from)) chain.set(at.to, at.key);
  return chain;
}

async function parseAll(successions: readonly string[]): Promise<Succession[]> {
  const parsed = await Promise.all(successions.slice(0, SUCCESSIONS_MAX).map(parseSuccession));
  return parsed.filter((succession) => succession !== undefined);
}

async function parseSuccession(text: string): Promise<Succession | undefined> {
  const [header = '', payload = '', signatureText = '', ...more] = text.split('.');
  const { alg, typ, kid } = jsonPart(header);
  const { iss, key: jwk } = jsonPart(payload);
  const key = bytesOfJwk(jwk);
  const signature = bytesFromBase64(signatureText);
  if (alg !== 'EdDSA' || typ !== TYPE || iss !== 'gatehouse' || more.length > 0) return undefined;
  if (typeof kid !== 'string' || key === undefined || signature === undefined) return undefined;
  const message = utf8From(`${header}.${payload}`);
  return { from: kid, to: await thumbprintOf(key), key, message, signature };
}

/** Empty for a part that is not JSON and thus not a succession. */
function jsonPart(part: string): Record<string, unknown> {
  return Object(parsedJson(new TextDecoder().decode(bytesFromBase64(part)))) as Record<string, unknown>;
}
