import { actorFrom } from '../access/access.ts';
import type { RecordActivity } from '../activity/activity.ts';
import { endpoint } from '../http/endpoint.ts';
import { RequestError } from '../errors.ts';
import { answer, listOf, PROJECT_ID, STRING, TIME } from '../http/schemas.ts';
import { NEW_PROJECT, parseProjectName } from './project-name.ts';
import type { Projects } from './projects.ts';

export type ProjectDeps = { projects: Projects; recordActivity: RecordActivity };

const PROJECT = answer({ id: STRING, name: STRING, created_at: TIME }, 'Project');

const SIGNED_IN = { tag: 'Projects', path: '/v1/projects', allow: 'session' } as const;

/** The projects of an account, and any project by its ID. */
export function projectEndpoints({ projects, recordActivity }: ProjectDeps) {
  return [
    endpoint({
      ...SIGNED_IN,
      method: 'GET',
      id: 'listProjects',
      summary: 'List your projects',
      description: 'The projects that the account is a member of.',
      answers: { 200: { description: 'The projects', schema: listOf(PROJECT) } },
      handle: async ({ caller: { account } }) => ({ items: await projects.listOf(account.id) }),
    }),
    endpoint({
      ...SIGNED_IN,
      method: 'POST',
      id: 'createProject',
      summary: 'Create a project',
      description:
        'The account becomes its owner. The name must differ from those of other projects of the account, ignoring case.',
      body: { schema: NEW_PROJECT, example: { name: 'Support' } },
      answers: { 201: { description: 'The new project', schema: PROJECT } },
      problems: ['conflict'],
      handle: async ({ caller: { account }, body, address }) => {
        const name = parseProjectName(body);
        const project = await projects.create(name, account.id);
        const entry = { event: 'project_created', project_id: project.id, detail: { name } } as const;
        await recordActivity({ ...entry, actor: actorFrom(account), address });
        return project;
      },
    }),
    endpoint({
      method: 'GET',
      tag: 'Projects',
      path: '/v1/projects/{id}',
      allow: { role: 'viewer', scope: 'read_audit', open: 'anonymous' },
      params: { id: PROJECT_ID },
      id: 'readProject',
      summary: 'Read one project',
      description: 'Its name, and when it was created. Access is that of the audit reads.',
      answers: { 200: { description: 'The project', schema: PROJECT } },
      problems: ['not_found'],
      handle: async ({ params }) => {
        const project = await projects.find(params.id);
        if (project === undefined) throw new RequestError('not_found', 'There is no such project');
        return project;
      },
    }),
  ];
}
