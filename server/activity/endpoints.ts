import { endpoint } from '../http/endpoint.ts';
import { answer, COUNT, NEXT_CURSOR, PAGE, PROJECT_ID, STRING, TIME, UUID } from '../http/schemas.ts';
import { nextTimeCursor, parseTimeCursor } from '../http/time-cursor.ts';
import type { BoundedStore } from '../store/bounded-store.ts';
import { readActivity } from './activity.ts';
import { Type } from '../type.ts';

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
    next_cursor: NEXT_CURSOR,
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
      query: Type.Object(PAGE),
      answers: { 200: { description: 'One page', schema: ACTIVITY } },
      handle: async ({ caller, params: { id: projectId }, query: { limit, cursor } }) => {
        const before = parseTimeCursor(cursor);
        const accountIds = (await members.list(projectId)).map(({ account_id }) => account_id);
        const page = { projectId, accountIds, readerId: caller.actor.account_id, before, limit: limit + 1 };
        const found = await readActivity(store, page);
        const next_cursor = nextTimeCursor(found, limit, ({ occurred_at }) => occurred_at);
        return { project_id: projectId, items: found.slice(0, limit), limit, next_cursor };
      },
    }),
  ];
}
