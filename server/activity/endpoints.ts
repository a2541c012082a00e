import { endpoint } from '../http/endpoint.ts';
import { queryInvalid } from '../http/query.ts';
import { answer, COUNT, nullable, PROJECT_ID, STRING, TIME, UUID } from '../http/schemas.ts';
import type { BoundedStore } from '../store/bounded-store.ts';
import { type ActivityCursor, readActivity } from './activity.ts';
import { Type } from '../type.ts';

/** Sorts before every row: later than any time that the store can hold. */
const NEWEST: ActivityCursor = { occurred_at: '2200-01-01T00:00:00.000Z', id: '' };
const CURSOR = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)_([0-9a-f-]{36})$/;

const ACTIVITY = answer(
  {
    project_id: STRING,
    items: Type.Array(
      answer({
        id: UUID,
        occurred_at: TIME,
        event: STRING,
        project_id: STRING,
        account_id: STRING,
        email: STRING,
        key_id: STRING,
        address: STRING,
        detail: Type.Record(STRING, Type.Unknown()),
      }),
    ),
    limit: COUNT,
    next_cursor: nullable<string>('string', { description: 'For `cursor`; null on the last page' }),
  },
  'Activity',
);

type ListMembers = (projectId: string) => Promise<{ account_id: string }[]>;
export type ActivityDeps = { members: { list: ListMembers }; store: BoundedStore };

export function activityEndpoints({ members, store }: ActivityDeps) {
  return [
    endpoint({
      method: 'GET',
      path: '/v1/projects/{id}/activity',
      id: 'listActivity',
      tag: 'Projects',
      summary: 'List activity',
      // Anyone can be added to a project without being asked, so earlier account activity stays private.
      description:
        'What the members did in this project and with their accounts, newest first. The account activity of another member is shown only since their first action in this project.',
      allow: { role: 'viewer' },
      params: { id: PROJECT_ID },
      query: Type.Object({
        limit: Type.Integer({ minimum: 1, maximum: 500, default: 50, description: 'The length of a page' }),
        cursor: Type.Optional(Type.String({ description: 'The `next_cursor` of the page before' })),
      }),
      answers: { 200: { description: 'One page', schema: ACTIVITY } },
      handle: async ({ caller, params: { id: projectId }, query: { limit, cursor } }) => {
        const before = cursorFrom(cursor);
        const accountIds = (await members.list(projectId)).map(({ account_id }) => account_id);
        const page = { projectId, accountIds, readerId: caller.actor.account_id, before, limit };
        const items = await readActivity(store, page);
        const last = items.length === limit ? items.at(-1) : undefined;
        const next_cursor = last === undefined ? null : `${last.occurred_at}_${last.id}`;
        return { project_id: projectId, items, limit, next_cursor };
      },
    }),
  ];
}

function cursorFrom(text: string | undefined): ActivityCursor {
  if (text === undefined) return NEWEST;
  const [, occurred_at = '', id = ''] = CURSOR.exec(text) ?? [];
  if (Number.isNaN(Date.parse(occurred_at)))
    throw queryInvalid({ path: 'cursor', message: 'must be a next_cursor of this endpoint' });
  return { occurred_at, id };
}
