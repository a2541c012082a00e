import { Type } from 'typebox';
import { actorFrom } from '../access/access.ts';
import type { RecordActivity } from '../activity/activity.ts';
import { RequestError } from '../errors.ts';
import { endpoint } from '../http/endpoint.ts';
import { addressOf } from '../http/rate-limit.ts';
import { answer, BOOLEAN, listOf, PROJECT_ID, STRING, TIME, UUID } from '../http/schemas.ts';
import type { KeyedMutex } from '../keyed-mutex.ts';
import { EMAIL_CHARS_MAX } from '../limits.ts';
import { NEW_PROJECT, parseProjectName } from './project-name.ts';
import type { Projects } from './projects.ts';

export type ProjectDeps = {
  /** Finds accounts by e-mail, and the e-mails of accounts. */
  accountStore: {
    find(email: string): Promise<{ id: string; email: string; is_verified: boolean } | undefined>;
    emailsOf(accountIds: string[]): Promise<Map<string, string>>;
  };
  projects: Projects;
  recordActivity: RecordActivity;
  mutex: KeyedMutex;
};

const PROJECT = answer({ id: STRING, name: STRING, created_at: TIME }, 'Project');
const MEMBER = answer({ account_id: UUID, is_owner: BOOLEAN, added_at: TIME, email: STRING }, 'Member');

const SIGNED_IN = { tag: 'Projects', path: '/v1/projects', allow: 'session' } as const;
const OF_PROJECT = { tag: 'Projects', allow: 'member' } as const;

/** Projects and their members. */
export function projectEndpoints(deps: ProjectDeps) {
  const { projects, recordActivity } = deps;
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
    ...memberEndpoints(deps),
  ];
}

function memberEndpoints({ accountStore, projects, recordActivity, mutex }: ProjectDeps) {
  const membersOf = async (projectId: string) => {
    const members = await projects.members(projectId);
    const emails = await accountStore.emailsOf(members.map(({ account_id }) => account_id));
    return members.map((member) => ({ ...member, email: emails.get(member.account_id) ?? '' }));
  };
  const memberOf = async (projectId: string, accountId: string) => {
    const member = (await membersOf(projectId)).find(({ account_id }) => account_id === accountId);
    if (member === undefined) throw new RequestError('not_found', 'The project has no such member');
    return member;
  };
  return [
    endpoint({
      ...OF_PROJECT,
      method: 'GET',
      path: '/v1/projects/{id}/members',
      id: 'listMembers',
      summary: 'List members',
      description: 'The members of the project: the owner first, then the others as they were added.',
      params: { id: PROJECT_ID },
      answers: { 200: { description: 'The members', schema: listOf(MEMBER) } },
      handle: async ({ params }) => ({ items: await membersOf(params.id) }),
    }),
    endpoint({
      ...OF_PROJECT,
      method: 'POST',
      path: '/v1/projects/{id}/members',
      id: 'addMember',
      summary: 'Add a member',
      description: 'Adds the account with this e-mail address, which must be verified.',
      params: { id: PROJECT_ID },
      body: {
        schema: Type.Object({ email: Type.String({ maxLength: EMAIL_CHARS_MAX, format: 'email' }) }),
        example: { email: 'ada@example.com' },
      },
      answers: { 201: { description: 'The new member', schema: MEMBER } },
      problems: ['not_found', 'conflict'],
      handle: async ({ req, caller: actor, params: { id: projectId }, body: { email } }) => {
        const account = await accountStore.find(email);
        // Anyone can register an address that is not theirs, so an unverified one gives no access.
        if (account?.is_verified !== true)
          throw new RequestError('not_found', 'There is no account with that verified e-mail address');
        await mutex.run(`members:${projectId}`, async () => {
          if (await projects.isMember(projectId, account.id))
            throw new RequestError('conflict', 'That account is a member already');
          const membership = { projectId, accountId: account.id, isMember: true };
          await projects.setMember({ ...membership, changedBy: actor.account_id });
        });
        const detail = { account_id: account.id, email: account.email };
        const entry = { event: 'member_added', project_id: projectId, detail } as const;
        await recordActivity({ ...entry, actor, address: addressOf(req) });
        return memberOf(projectId, account.id);
      },
    }),
    endpoint({
      ...OF_PROJECT,
      method: 'DELETE',
      path: '/v1/projects/{id}/members/{account_id}',
      id: 'removeMember',
      summary: 'Remove a member',
      description: 'Members may remove each other and leave. The owner stays.',
      params: { id: PROJECT_ID, account_id: STRING },
      answers: { 204: { description: 'The account is not a member any more' } },
      problems: ['not_found', 'conflict'],
      handle: async ({ req, caller: actor, params: { id: projectId, account_id: accountId } }) => {
        const email = await mutex.run(`members:${projectId}`, async () => {
          const member = await memberOf(projectId, accountId);
          if (member.is_owner)
            throw new RequestError('conflict', 'The owner of a project cannot be removed from it');
          const membership = { projectId, accountId, isMember: false };
          await projects.setMember({ ...membership, changedBy: actor.account_id });
          return member.email;
        });
        const detail = { account_id: accountId, email };
        const entry = { event: 'member_removed', project_id: projectId, detail } as const;
        await recordActivity({ ...entry, actor, address: addressOf(req) });
        return undefined;
      },
    }),
  ];
}
