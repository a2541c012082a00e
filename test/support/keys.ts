import { call, jsonOf, type Person } from './accounts.ts';
import { decisionEvent } from './events.ts';
import type { TestService } from './service.ts';

export type Key = {
  key_id: string;
  name: string;
  key: string;
  scope: string;
  created_at: string;
  expires_at: string | null;
  revoked_at?: string | null;
};

export const keysPath = ({ project }: Person) => `/v1/projects/${project.id}/keys`;

export const issue = (service: TestService, person: Person, body: unknown = {}) =>
  jsonOf<Key>(call(service, keysPath(person), { cookie: person.cookie, body }));

export const ingest = async (service: TestService, key: string) =>
  (await call(service, '/v1/audit/decisions', { key, body: decisionEvent() })).status;
