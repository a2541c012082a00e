import { Router, type Request } from 'express';
import { type Access, actorFrom } from '../access/access.ts';
import type { AccountStore } from '../accounts/account-store.ts';
import type { RecordActivity } from '../activity/activity.ts';
import { RequestError } from '../errors.ts';
import { addressOf } from '../http/rate-limit.ts';
import { readJson } from '../http/read-json.ts';
import { createRouter, mount } from '../http/routes.ts';
import { EMAIL_CHARS_MAX } from '../limits.ts';
import type { KeyedMutex } from '../keyed-mutex.ts';
import { createParser } from '../validate.ts';
import { NEW_PROJECT, parseProjectName } from './project-name.ts';
import type { Projects } from './projects.ts';

export type ProjectDeps = {
  access: Access;
  accountStore: AccountStore;
  projects: Projects;
  recordActivity: RecordActivity;
  mutex: KeyedMutex;
};

export const PROJECT_BODIES = {
  create: NEW_PROJECT,
  addMember: {
    type: 'object',
    required: ['email'],
    properties: { email: { type: 'string', maxLength: EMAIL_CHARS_MAX, format: 'email' } },
  },
} as const;

const parseAddMember = createParser<{ email: string }>(PROJECT_BODIES.addMember);

/** Projects and their members (CONTRACT 8). All of it takes a session. */
export function projectRoutes(deps: ProjectDeps): Router {
  const { access, projects, recordActivity } = deps;
  const router = createRouter();
  mount(router, '/v1/projects', {
    get: async (req, res) => {
      const { account } = await access.requireSession(req);
      res.json({ items: await projects.listOf(account.id) });
    },
    post: async (req, res) => {
      const { account } = await access.requireSession(req);
      const name = await readJson(req, parseProjectName);
      const project = await projects.create(name, account.id);
      const entry = { event: 'project_created', project_id: project.id, detail: { name } } as const;
      await recordActivity({ ...entry, actor: actorFrom(account), address: addressOf(req) });
      res.status(201).json(project);
    },
  });
  mountMembers(router, deps);
  return router;
}

function mountMembers(
  router: Router,
  { access, accountStore, projects, recordActivity, mutex }: ProjectDeps,
): void {
  const itemsOf = async (projectId: string) => {
    const members = await projects.members(projectId);
    const emails = await accountStore.emailsOf(members.map(({ account_id }) => account_id));
    return members.map((member) => ({ ...member, email: emails.get(member.account_id) ?? '' }));
  };
  mount(router, '/v1/projects/:id/members', {
    get: async (req, res) => {
      await access.requireMember(req, projectIdOf(req));
      res.json({ items: await itemsOf(projectIdOf(req)) });
    },
    post: async (req, res) => {
      const projectId = projectIdOf(req);
      const actor = await access.requireMember(req, projectId);
      const { email } = await readJson(req, parseAddMember);
      const account = await accountStore.find(email);
      // Anyone can register an address that is not theirs; only who has confirmed it may be let in by it.
      if (account?.is_verified !== true)
        throw new RequestError('not_found', 'There is no account with that verified e-mail');
      await mutex.run(`members:${projectId}`, async () => {
        if (await projects.isMember(projectId, account.id))
          throw new RequestError('conflict', 'That account is a member already');
        await projects.setMember({ projectId, accountId: account.id, isMember: true, changedBy: actor.id });
      });
      const detail = { account_id: account.id, email: account.email };
      const entry = { event: 'member_added', project_id: projectId, detail } as const;
      await recordActivity({ ...entry, actor: actorFrom(actor), address: addressOf(req) });
      res.status(201).json((await itemsOf(projectId)).find(({ account_id }) => account_id === account.id));
    },
  });
  mount(router, '/v1/projects/:id/members/:account_id', {
    delete: async (req, res) => {
      const projectId = projectIdOf(req);
      const actor = await access.requireMember(req, projectId);
      const accountId = String(req.params['account_id']);
      const email = await mutex.run(`members:${projectId}`, async () => {
        const member = (await itemsOf(projectId)).find(({ account_id }) => account_id === accountId);
        if (member === undefined) throw new RequestError('not_found', 'The project has no such member');
        if (member.is_owner) throw new RequestError('conflict', 'The owner of a project stays its member');
        await projects.setMember({ projectId, accountId, isMember: false, changedBy: actor.id });
        return member.email;
      });
      const detail = { account_id: accountId, email };
      const entry = { event: 'member_removed', project_id: projectId, detail } as const;
      await recordActivity({ ...entry, actor: actorFrom(actor), address: addressOf(req) });
      res.status(204).end();
    },
  });
}

function projectIdOf(req: Request): string {
  return String(req.params['id']);
}
