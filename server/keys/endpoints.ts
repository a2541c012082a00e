import type { RecordActivity } from '../activity/activity.ts';
import { RequestError } from '../errors.ts';
import { endpoint } from '../http/endpoint.ts';
import { RateLimit } from '../http/rate-limit.ts';
import { answer, listOf, NULLABLE_TIME, PROJECT_ID, STRING, TIME, UUID } from '../http/schemas.ts';
import type { BearerKeys } from './bearer-keys.ts';
import type { KeyRecord } from './key-registry.ts';
import { KEYS_ISSUED_PER_ACCOUNT_MAX } from '../limits.ts';
import { NEW_KEY } from './new-key.ts';
import type { RootKeys } from './root-keys.ts';
import { Type } from '../type.ts';

export type KeyDeps = {
  rootKeys: RootKeys;
  bearerKeys: BearerKeys;
  accountStore: { emailsOf(accountIds: string[]): Promise<Map<string, string>> };
  recordActivity: RecordActivity;
};

const KEY = {
  key_id: UUID,
  name: STRING,
  scope: STRING,
  agents: Type.Optional(Type.Array(STRING, { description: 'Absent: all agents' })),
  created_at: TIME,
  expires_at: NULLABLE_TIME,
};
const LISTED = {
  ...KEY,
  revoked_at: NULLABLE_TIME,
  created_by: Type.String({
    description: 'The e-mail address of the member who issued it, empty if unknown',
  }),
};
const JWK = answer({
  kty: Type.Literal('OKP'),
  crv: Type.Literal('Ed25519'),
  alg: Type.Literal('EdDSA'),
  use: Type.Literal('sig'),
  kid: STRING,
  x: STRING,
});

const KEY_SET = answer({ keys: Type.Array(JWK), successions: Type.Array(STRING) }, 'KeySet');

const OF_PROJECT = { tag: 'Projects', allow: { role: 'admin' } } as const;

/** The public signing keys, and the bearer keys of a project. */
export function keyEndpoints({ rootKeys, bearerKeys, accountStore, recordActivity }: KeyDeps) {
  const issues = new RateLimit('keys_issued', KEYS_ISSUED_PER_ACCOUNT_MAX);
  return [
    endpoint({
      method: 'GET',
      path: '/v1/.well-known/keys',
      id: 'publicKeys',
      tag: 'Agents and policies',
      summary: 'Get the public keys',
      description:
        'The public keys that verify bearer keys and bundles, as a JWK set (RFC 7517), and the successions by which an older key vouches for a newer one, as compact JWS (RFC 7515).',
      allow: 'anyone',
      answers: { 200: { description: 'The key set', schema: KEY_SET } },
      handle: async ({ res }) => {
        const { keySet, isComplete } = await rootKeys.keySet();
        // Until the store was read, keys of earlier rotations may be missing.
        if (isComplete) res.set('Cache-Control', 'public, max-age=300');
        return keySet;
      },
    }),
    endpoint({
      ...OF_PROJECT,
      method: 'GET',
      path: '/v1/projects/{id}/keys',
      id: 'listKeys',
      summary: 'List bearer keys',
      description: 'All bearer keys of the project, oldest first, without the keys themselves.',
      params: { id: PROJECT_ID },
      answers: { 200: { description: 'The keys', schema: listOf(answer(LISTED)) } },
      handle: async ({ params }) => {
        const keys = await bearerKeys.list(params.id);
        const issuers = new Set(keys.map(({ created_by }) => created_by));
        const emails = await accountStore.emailsOf([...issuers]);
        const items = keys.map(({ project_id: _own, created_by, agents, ...key }) => ({
          ...key,
          ...narrowing(agents),
          created_by: emails.get(created_by) ?? '',
        }));
        return { items };
      },
    }),
    endpoint({
      ...OF_PROJECT,
      method: 'POST',
      path: '/v1/projects/{id}/keys',
      id: 'issueKey',
      summary: 'Issue a bearer key',
      description: 'Only this answer contains the key; it cannot be read again.',
      params: { id: PROJECT_ID },
      body: { schema: NEW_KEY, example: { name: 'production', expires_in_days: 90 } },
      answers: { 201: { description: 'The new key', schema: answer({ ...KEY, key: STRING }, 'IssuedKey') } },
      problems: ['rate_limited'],
      handle: async (call) => {
        const { caller, params, body, address } = call;
        const [{ actor }, project_id] = [caller, params.id];
        await issues.consume(actor.account_id);
        const issued = await bearerKeys.issue(project_id, body, actor.account_id);
        // Whoever removed the caller meanwhile may have revoked the caller's keys before this one was stored.
        await call.confirm(() => bearerKeys.revoke(project_id, issued.key_id));
        const { key_id, name, key, scope, created_at, expires_at } = issued;
        const agents = narrowing(issued.agents);
        const detail = { key_id, name, scope, ...agents, expires_at };
        await recordActivity({ event: 'key_issued', project_id, detail, actor, address });
        return { key_id, name, key, scope, ...agents, created_at, expires_at };
      },
    }),
    endpoint({
      ...OF_PROJECT,
      method: 'DELETE',
      path: '/v1/projects/{id}/keys/{key_id}',
      id: 'revokeKey',
      summary: 'Revoke a bearer key',
      description:
        'The key stops working permanently: in this process at once, in every other within 5 seconds.',
      params: { id: PROJECT_ID, key_id: STRING },
      answers: { 204: { description: 'The key is revoked' } },
      problems: ['not_found'],
      handle: async ({ caller: { actor }, params: { id: project_id, key_id }, address }) => {
        if (!(await bearerKeys.revoke(project_id, key_id)))
          throw new RequestError('not_found', 'The project has no such key');
        const detail = { key_id };
        await recordActivity({ event: 'key_revoked', project_id, detail, actor, address });
      },
    }),
  ];
}

/** The agents that a key is restricted to, for an answer. */
function narrowing(agents: KeyRecord['agents']): { agents?: string[] } {
  return agents.length === 0 ? {} : { agents };
}
