import { randomUUID } from 'node:crypto';
import { decodeProtectedHeader, jwtVerify, SignJWT } from 'jose';
import { LRUCache } from 'lru-cache';
import { DEFAULT_SCOPE, scopesFrom } from '../rights.ts';
import { isBase64url } from '../base64url.ts';
import { RequestError } from '../errors.ts';
import { BEARER_KEY_CHARS_MAX, VERIFIED_KEY_CHARS_MAX, VERIFIED_KEYS_MAX } from '../limits.ts';
import { bodyInvalid } from '../validate.ts';
import type { KeyRecord, KeyRegistry, KnownKey } from './key-registry.ts';
import type { RootKeys } from './root-keys.ts';
import type { NewKey } from './new-key.ts';
import { DAY_MS } from '../durations.ts';

const ISSUER = 'gatehouse';
const NOT_ISSUED_HERE = 'This service did not issue the bearer key';

/** The project of a bearer key and its rights. Undefined agents: all agents. */
export type KeyIdentity = {
  project_id: string;
  key_id: string;
  scopes: ReadonlySet<string>;
  agents: ReadonlySet<string> | undefined;
};

type Claims = KeyIdentity & { expiresAtMs: number };

/** Issues, verifies and revokes bearer keys: JWTs (RFC 7519, alg EdDSA of RFC 8037) signed with the root key. */
export class BearerKeys {
  readonly #rootKeys: Pick<RootKeys, 'current' | 'find'>;
  readonly #registry: KeyRegistry;
  readonly #now: () => number;
  /** The claims of keys whose signature was verified, by the text of the key. */
  readonly #verified = new LRUCache<string, Claims>({
    max: VERIFIED_KEYS_MAX,
    maxSize: VERIFIED_KEY_CHARS_MAX,
    sizeCalculation: (_claims, bearerKey) => bearerKey.length,
  });

  constructor(rootKeys: Pick<RootKeys, 'current' | 'find'>, registry: KeyRegistry, now: () => number) {
    this.#rootKeys = rootKeys;
    this.#registry = registry;
    this.#now = now;
  }

  /** The identity if the key is valid and everything about it is in memory, as for most requests of the hot path. */
  peek(bearerKey: string): KeyIdentity | undefined {
    const claims = this.#verified.get(bearerKey);
    const record = claims && this.#registry.peek(claims.key_id);
    return claims && record && this.#faultOf(claims, record) === undefined ? claims : undefined;
  }

  /** Rejects with unauthenticated, or with store_unavailable if revocation cannot be read. */
  async verify(bearerKey: string): Promise<KeyIdentity> {
    const claims = this.#verified.get(bearerKey) ?? (await this.#verifySignature(bearerKey));
    // Expired and revoked keys are refused without the store, which may be unavailable.
    this.#requireNoFault(claims, this.#registry.lastKnown(claims.key_id));
    const record = await this.#registry.find(claims.key_id);
    if (record === undefined) throw unauthenticated(NOT_ISSUED_HERE);
    this.#requireNoFault(claims, record);
    return claims;
  }

  #requireNoFault(claims: Claims, record: KnownKey | undefined): void {
    const fault = this.#faultOf(claims, record);
    if (fault !== undefined) throw unauthenticated(fault);
  }

  #faultOf(claims: Claims, record: KnownKey | undefined): string | undefined {
    if (claims.expiresAtMs <= this.#now()) return 'The bearer key has expired';
    if (record === undefined) return undefined;
    if (record.project_id !== claims.project_id) return NOT_ISSUED_HERE;
    return record.isRevoked ? 'The bearer key was revoked' : undefined;
  }

  /** Creates a key and stores its record. The key itself is only returned, never stored. */
  async issue(
    projectId: string,
    request: Partial<NewKey> = {},
    createdBy = '',
  ): Promise<KeyRecord & { key: string }> {
    const nowMs = this.#now();
    const { name = '', scope = DEFAULT_SCOPE, agents = [], expires_in_days: expiresInDays } = request;
    const expiresAtMs = expiresInDays === undefined ? undefined : nowMs + expiresInDays * DAY_MS;
    const record: KeyRecord = {
      key_id: randomUUID(),
      project_id: projectId,
      name,
      scope: [...new Set(scope.split(' '))].join(' '),
      agents: [...new Set(agents)],
      created_by: createdBy,
      created_at: new Date(nowMs).toISOString(),
      expires_at: expiresAtMs === undefined ? null : new Date(expiresAtMs).toISOString(),
      revoked_at: null,
    };
    const jwt = new SignJWT({
      scope: record.scope,
      ...(agents.length === 0 ? {} : { agents: record.agents }),
    })
      .setProtectedHeader({ alg: 'EdDSA', typ: 'JWT', kid: this.#rootKeys.current.kid })
      .setIssuer(ISSUER)
      .setJti(record.key_id)
      .setSubject(projectId)
      .setIssuedAt(Math.floor(nowMs / 1000));
    if (expiresAtMs !== undefined) jwt.setExpirationTime(Math.floor(expiresAtMs / 1000));
    const key = await jwt.sign(this.#rootKeys.current.privateKey);
    if (key.length > BEARER_KEY_CHARS_MAX)
      throw bodyInvalid([{ path: '/agents', message: 'are too long together; issue several keys' }]);
    await this.#registry.write(record);
    return { ...record, key };
  }

  list(projectId: string): Promise<KeyRecord[]> {
    return this.#registry.list(projectId);
  }

  /** Revokes all keys of a project, or those that an account issued. Resolves with the ids of those that were not revoked before. */
  async revokeAll(projectId: string, accountId?: string): Promise<string[]> {
    const keys = (await this.list(projectId)).filter(
      ({ created_by, revoked_at }) =>
        revoked_at === null && (accountId === undefined || created_by === accountId),
    );
    await this.#revoke(keys);
    return keys.map(({ key_id }) => key_id);
  }

  /** False if the project has no such key. A second revocation keeps the time of the first. */
  async revoke(projectId: string, keyId: string): Promise<boolean> {
    const record = (await this.list(projectId)).find(({ key_id }) => key_id === keyId);
    if (record === undefined) return false;
    if (record.revoked_at === null) await this.#revoke([record]);
    return true;
  }

  async #revoke(keys: KeyRecord[]): Promise<void> {
    const revoked_at = new Date(this.#now()).toISOString();
    await this.#registry.write(keys.map((key) => ({ ...key, revoked_at })));
  }

  async #verifySignature(bearerKey: string): Promise<Claims> {
    if (bearerKey.length > BEARER_KEY_CHARS_MAX) throw unauthenticated('The bearer key is too long');
    try {
      const { kid, typ = 'JWT' } = decodeProtectedHeader(bearerKey);
      // The root key signs receipts, too.
      if (typ !== 'JWT') throw new Error('not a bearer key');
      const publicKey = await this.#rootKeys.find(String(kid));
      if (publicKey === undefined) throw new Error('unknown kid');
      // The signature covers everything except its own encoding.
      if (!isBase64url(bearerKey.slice(bearerKey.lastIndexOf('.') + 1))) throw new Error('not base64url');
      const { payload } = await jwtVerify<{ scope?: unknown; agents?: unknown }>(bearerKey, publicKey, {
        algorithms: ['EdDSA'],
        issuer: ISSUER,
        requiredClaims: ['jti', 'sub', 'iat'],
        currentDate: new Date(this.#now()),
      });
      const claims = {
        project_id: String(payload.sub),
        key_id: String(payload.jti),
        scopes: scopesFrom(typeof payload.scope === 'string' ? payload.scope : ''),
        agents: Array.isArray(payload.agents) ? new Set<string>(payload.agents) : undefined,
        expiresAtMs: payload.exp === undefined ? Number.POSITIVE_INFINITY : payload.exp * 1000,
      };
      this.#verified.set(bearerKey, claims);
      return claims;
    } catch (error) {
      throw unauthenticated('The bearer key is not valid', error);
    }
  }
}

export function unauthenticated(detail: string, cause?: unknown): RequestError {
  return new RequestError('unauthenticated', detail, { cause });
}
