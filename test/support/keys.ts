import { createPrivateKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { decodeJwt, decodeProtectedHeader, type JWK, type JWTPayload, SignJWT } from 'jose';
import { call, jsonOf, type Person, demoCookie } from './accounts.ts';
import { decisionEvent } from './events.ts';
import type { RunningService, TestService } from './service.ts';

/** Who may issue and revoke the keys of a project. */
export type Owner = Pick<Person, 'cookie' | 'project'>;

export type Key = {
  key_id: string;
  name: string;
  key: string;
  scope: string;
  agents?: string[];
  created_at: string;
  expires_at: string | null;
  revoked_at?: string | null;
  created_by?: string;
};

export type KeySet = { keys: (JWK & { kid: string; x: string })[]; successions: string[] };

/** The published keys of a service. */
export function keySetOf({ url }: Pick<RunningService, 'url'>): Promise<KeySet> {
  return jsonOf<KeySet>(call({ url }, '/v1/.well-known/keys'));
}

/** Environment variables hold keys as plain base64; a JWK has them as base64url. */
export function base64Of(base64url: string | undefined): string {
  return Buffer.from(base64url ?? '', 'base64url').toString('base64');
}

/** The key of the project with other claims, signed by the root key that the service made. */
export async function keyWith(
  { dataDir, key }: Pick<RunningService, 'dataDir' | 'key'>,
  claims: JWTPayload,
): Promise<string> {
  const rootKey = createPrivateKey(readFileSync(join(dataDir, 'signing-key.pem')));
  return new SignJWT({ ...decodeJwt(key), ...claims })
    .setProtectedHeader({ ...decodeProtectedHeader(key), alg: 'EdDSA' })
    .sign(rootKey);
}

export const keysPath = ({ project }: Owner) => `/v1/projects/${project.id}/keys`;

export const issue = (service: RunningService, owner: Owner, body: unknown = {}) =>
  jsonOf<Key>(call(service, keysPath(owner), { cookie: owner.cookie, body }));

/** The demo account, which owns the demo project. */
export async function demoOwner(service: TestService): Promise<Owner> {
  return { cookie: await demoCookie(service), project: { id: service.project_id, name: '' } };
}

export const revoke = (service: RunningService, owner: Owner, keyId: string) =>
  call(service, `${keysPath(owner)}/${keyId}`, { method: 'DELETE', cookie: owner.cookie });

export const ingest = async (service: RunningService, key: string) =>
  (await call(service, '/v1/audit/decisions', { key, body: decisionEvent() })).status;
