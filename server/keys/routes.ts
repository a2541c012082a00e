import { Router, type Request } from 'express';
import { type Access, actorFrom } from '../access/access.ts';
import type { RecordActivity } from '../activity/activity.ts';
import { RequestError } from '../errors.ts';
import { addressOf } from '../http/rate-limit.ts';
import { readJson } from '../http/read-json.ts';
import { createRouter, mount } from '../http/routes.ts';
import { KEY_DAYS_MAX, KEY_NAME_CHARS_MAX } from '../limits.ts';
import { createParser } from '../validate.ts';
import type { BearerKeys } from './bearer-keys.ts';
import type { SigningKeys } from './signing-keys.ts';

export type KeyDeps = {
  signing: SigningKeys;
  bearerKeys: BearerKeys;
  access: Access;
  recordActivity: RecordActivity;
};

export const KEY_BODIES = {
  issue: {
    type: 'object',
    properties: {
      name: { type: 'string', maxLength: KEY_NAME_CHARS_MAX, format: 'text' },
      expires_in_days: { type: 'integer', minimum: 1, maximum: KEY_DAYS_MAX },
    },
  },
} as const;

const parseIssue = createParser<{ name?: string; expires_in_days?: number }>(KEY_BODIES.issue);

/** GET /v1/.well-known/keys, and the bearer keys of a project, which take the session of a member (CONTRACT 6, 8). */
export function keyRoutes(deps: KeyDeps): Router {
  const router = createRouter();
  mount(router, '/v1/.well-known/keys', {
    // The public keys that verify bearer keys and bundles, as a JWK set (RFC 7517 section 5).
    get: (_req, res) => {
      res.set('Cache-Control', 'public, max-age=300').json(deps.signing.jwks);
    },
  });
  mountProjectKeys(router, deps);
  return router;
}

function mountProjectKeys(router: Router, { bearerKeys, access, recordActivity }: KeyDeps): void {
  mount(router, '/v1/projects/:id/keys', {
    get: async (req, res) => {
      await access.requireMember(req, projectIdOf(req));
      const keys = await bearerKeys.list(projectIdOf(req));
      const items = keys
        .map(({ project_id: _own, ...key }) => key)
        .sort((a, b) => a.created_at.localeCompare(b.created_at) || a.key_id.localeCompare(b.key_id));
      res.json({ items });
    },
    post: async (req, res) => {
      const project_id = projectIdOf(req);
      const account = await access.requireMember(req, project_id);
      const { name = '', expires_in_days: expiresInDays } = await readJson(req, parseIssue);
      const { key_id, key, scope, created_at, expires_at } = await bearerKeys.issue(project_id, {
        name,
        expiresInDays,
      });
      const entry = { event: 'key_issued', project_id, detail: { key_id, name, expires_at } } as const;
      await recordActivity({ ...entry, actor: actorFrom(account), address: addressOf(req) });
      res
        .status(201)
        .set('Cache-Control', 'no-store')
        .json({ key_id, name, key, scope, created_at, expires_at });
    },
  });
  mount(router, '/v1/projects/:id/keys/:key_id', {
    delete: async (req, res) => {
      const project_id = projectIdOf(req);
      const account = await access.requireMember(req, project_id);
      const key_id = String(req.params['key_id']);
      if (!(await bearerKeys.revoke(project_id, key_id)))
        throw new RequestError('not_found', 'The project has no such key');
      const entry = { event: 'key_revoked', project_id, detail: { key_id } } as const;
      await recordActivity({ ...entry, actor: actorFrom(account), address: addressOf(req) });
      res.status(204).end();
    },
  });
}

function projectIdOf(req: Request): string {
  return String(req.params['id']);
}
