import { actorFrom } from '../access/access.ts';
import type { RecordActivity } from '../activity/activity.ts';
import { endpoint } from '../http/endpoint.ts';
import { addressOf } from '../http/rate-limit.ts';
import { answer, listOf, STRING, TIME } from '../http/schemas.ts';
import { NEW_PROJECT, parseProjectName } from './project-name.ts';
import type { Projects } from './projects.ts';

export type ProjectDeps = { projects: Projects; recordActivity: RecordActivity };

const PROJECT = answer({ id: STRING, name: STRING, created_at: TIME }, 'Project');

const SIGNED_IN = { tag: 'Projects', path: '/v1/projects', allow: 'session' } as const;

/** The projects of an account. */
export function projectEndpoints({ projects, recordActivity }: ProjectDeps) {
  return [
    endpoint({
      ...SIGNED_IN,
      method: 'GET',
      id: 'listProjects',
      summary: 'List own projects',
      description: 'The projects that the account is a member of.',
      answers: { 200: { description: 'The projects', schema: listOf(PROJECT) } },
      handle: async ({ caller: { account } }) => ({ items: await projects.listOf(account.id) }),
    }),
    endpoint({
      ...SIGNED_IN,
      method: 'POST',
      id: 'createProject',
      summary: 'Create a project',
      description: 'The account becomes its owner. The names of its projects differ in more than case.',
      body: { schema: NEW_PROJECT, example: { name: 'Support' } },
      answers: { 201: { description: 'The new project', schema: PROJECT } },
      problems: ['conflict'],
      handle: async ({ req, caller: { account }, body }) => {
        const name = parseProjectName(body);
        const project = await projects.create(name, account.id);
        const entry = { event: 'project_created', project_id: project.id, detail: { name } } as const;
        await recordActivity({ ...entry, actor: actorFrom(account), address: addressOf(req) });
        return project;
      },
    }),
  ];
}
