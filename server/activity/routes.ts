import type { Router } from 'express';
import type { Access } from '../access/access.ts';
import { Query, queryInvalid } from '../http/query.ts';
import { createRouter, mount } from '../http/routes.ts';
import type { Projects } from '../projects/projects.ts';
import type { BoundedStore } from '../store/bounded-store.ts';
import { type ActivityCursor, readActivity } from './activity.ts';

export type ActivityDeps = { access: Access; projects: Projects; store: BoundedStore };

const LIMIT = { fallback: 50, min: 1, max: 500 };
/** Sorts before every row: later than any time the store can hold a row of. */
const NEWEST: ActivityCursor = { occurred_at: '2200-01-01T00:00:00.000Z', id: '' };
const CURSOR = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)_([0-9a-f-]{36})$/;

/**
 * GET /v1/projects/{id}/activity: what people did, for members to read. What another did with its account is shown from
 * its first deed in the project on: anyone can be made a member without being asked.
 */
export function activityRoutes({ access, projects, store }: ActivityDeps): Router {
  const router = createRouter();
  mount(router, '/v1/projects/:id/activity', {
    get: async (req, res) => {
      const projectId = String(req.params['id']);
      const reader = await access.requireMember(req, projectId);
      const query = new Query(req, ['limit', 'cursor']);
      const limit = query.integer('limit', LIMIT);
      const before = cursorFrom(query.text('cursor'));
      const accountIds = (await projects.members(projectId)).map(({ account_id }) => account_id);
      const asked = { projectId, accountIds, readerId: reader.id, before, limit };
      const items = await readActivity(store, asked);
      const last = items.length === limit ? items.at(-1) : undefined;
      res.json({
        project_id: projectId,
        items,
        limit,
        next_cursor: last === undefined ? null : `${last.occurred_at}_${last.id}`,
      });
    },
  });
  return router;
}

function cursorFrom(text: string | undefined): ActivityCursor {
  if (text === undefined) return NEWEST;
  const [, occurred_at = '', id = ''] = CURSOR.exec(text) ?? [];
  if (Number.isNaN(Date.parse(occurred_at)))
    throw queryInvalid({ path: 'cursor', message: 'must be a next_cursor of this endpoint' });
  return { occurred_at, id };
}
