import { call, jsonOf, type Person } from './accounts.ts';
import { decisionEvent } from './events.ts';
import type { RunningService } from './service.ts';

/** Who may issue and revoke the keys of a project. */
export type Owner = Pick<Person, 'cookie' | 'project'>;

export type Key = {
  key_id: string;
  name: string;
  key: string;
  scope: string;
  created_at: string;
  expires_at: string | null;
  revoked_at?: string | null;
};

export const keysPath = ({ project }: Owner) => `/v1/projects/${project.id}/keys`;

export const issue = (service: RunningService, owner: Owner, body: unknown = {}) =>
  jsonOf<Key>(call(service, keysPath(owner), { cookie: owner.cookie, body }));

export const revoke = (service: RunningService, owner: Owner, keyId: string) =>
  call(service, `${keysPath(owner)}/${keyId}`, { method: 'DELETE', cookie: owner.cookie });

export const ingest = async (service: RunningService, key: string) =>
  (await call(service, '/v1/audit/decisions', { key, body: decisionEvent() })).status;
