import { Type } from 'typebox';
import type { MemberCaller } from '../access/access.ts';
import { hasRole, mayManage, type Role, ROLES } from '../rights.ts';
import type { ActivityEvent, RecordActivity } from '../activity/activity.ts';
import { RequestError } from '../errors.ts';
import { endpoint } from '../http/endpoint.ts';
import { addressOf } from '../http/rate-limit.ts';
import { answer, BOOLEAN, listOf, oneOf, PROJECT_ID, STRING, TIME, UUID } from '../http/schemas.ts';
import { EMAIL_CHARS_MAX } from '../limits.ts';
import type { Members } from './members.ts';

export type MemberDeps = {
  /** Finds accounts by e-mail, and the e-mails of accounts. */
  accountStore: {
    find(email: string): Promise<{ id: string; email: string; is_verified: boolean } | undefined>;
    emailsOf(accountIds: string[]): Promise<Map<string, string>>;
  };
  members: Members;
  recordActivity: RecordActivity;
};

const ROLE = oneOf(ROLES, { description: 'What the member may do. Each role includes the ones before it.' });
const MEMBER = answer(
  { account_id: UUID, role: ROLE, is_owner: BOOLEAN, added_at: TIME, email: STRING },
  'Member',
);

const OF_PROJECT = {
  tag: 'Projects',
  path: '/v1/projects/{id}/members',
  params: { id: PROJECT_ID },
} as const;
const ONE_MEMBER = {
  tag: 'Projects',
  path: '/v1/projects/{id}/members/{account_id}',
  params: { id: PROJECT_ID, account_id: STRING },
  problems: ['not_found', 'conflict'],
} as const;

/** The members of a project. Admins manage the members below them, owners all. */
export function memberEndpoints(deps: MemberDeps) {
  const { accountStore, members } = deps;
  const { membersOf, memberOf } = createMemberReads(deps);
  const record = createRecordMember(deps);
  return [
    endpoint({
      ...OF_PROJECT,
      method: 'GET',
      id: 'listMembers',
      summary: 'List members',
      description: 'The members of the project: the owners first, then the others as they were added.',
      allow: { role: 'viewer' },
      answers: { 200: { description: 'The members', schema: listOf(MEMBER) } },
      handle: async ({ params }) => ({ items: await membersOf(params.id) }),
    }),
    endpoint({
      ...OF_PROJECT,
      method: 'POST',
      id: 'addMember',
      summary: 'Add a member',
      description:
        'Adds the account with this e-mail address, which must be verified. Only owners add admins and owners.',
      allow: { role: 'admin' },
      body: {
        schema: Type.Object({
          email: Type.String({ maxLength: EMAIL_CHARS_MAX, format: 'email' }),
          role: oneOf(ROLES, { default: 'editor' }),
        }),
        example: { email: 'ada@example.com', role: 'viewer' },
      },
      answers: { 201: { description: 'The new member', schema: MEMBER } },
      problems: ['not_found', 'conflict'],
      handle: async ({ req, caller, params: { id: projectId }, body: { email, role } }) => {
        requireMayManage(caller, role);
        const account = await accountStore.find(email);
        // Anyone can register an address that is not theirs, so an unverified one gives no access.
        if (account?.is_verified !== true)
          throw new RequestError('not_found', 'There is no account with that verified e-mail address');
        const accountId = account.id;
        await members.change({ projectId, accountId, changedBy: caller.actor.account_id }, (held) => {
          if (held !== undefined) throw new RequestError('conflict', 'That account is a member already');
          return role;
        });
        const detail = { account_id: accountId, email: account.email, role };
        await record('member_added', { projectId, caller, address: addressOf(req), detail });
        return memberOf(projectId, accountId);
      },
    }),
    endpoint({
      ...ONE_MEMBER,
      method: 'PUT',
      id: 'changeRole',
      summary: 'Change the role of a member',
      description:
        'Only owners change the role of admins and owners, and give these roles. A project keeps at least one owner.',
      allow: { role: 'admin' },
      body: { schema: Type.Object({ role: ROLE }), example: { role: 'viewer' } },
      answers: { 200: { description: 'The member', schema: MEMBER } },
      handle: async ({ req, caller, params, body: { role } }) => {
        const { id: projectId, account_id: accountId } = params;
        const { email, role: before } = await memberOf(projectId, accountId);
        await members.change({ projectId, accountId, changedBy: caller.actor.account_id }, (held) => {
          if (held === undefined) throw noSuchMember();
          const stepsDown = accountId === caller.actor.account_id && !hasRole(role, held);
          if (!stepsDown) requireMayManage(caller, held, role);
          return role;
        });
        const detail = { account_id: accountId, email, before, role };
        if (before !== role)
          await record('member_role_changed', { projectId, caller, address: addressOf(req), detail });
        return memberOf(projectId, accountId);
      },
    }),
    endpoint({
      ...ONE_MEMBER,
      method: 'DELETE',
      id: 'removeMember',
      summary: 'Remove a member',
      description:
        'Members of any role may leave. Only owners remove admins and owners. A project keeps at least one owner.',
      allow: { role: 'admin', orSelf: 'account_id' },
      answers: { 204: { description: 'The account is not a member any more' } },
      handle: async ({ req, caller, params: { id: projectId, account_id: accountId } }) => {
        const { email } = await memberOf(projectId, accountId);
        await members.change({ projectId, accountId, changedBy: caller.actor.account_id }, (held) => {
          if (held === undefined) throw noSuchMember();
          if (accountId !== caller.actor.account_id) requireMayManage(caller, held);
          return undefined;
        });
        const detail = { account_id: accountId, email };
        await record('member_removed', { projectId, caller, address: addressOf(req), detail });
        return undefined;
      },
    }),
  ];
}

function createMemberReads({ accountStore, members }: MemberDeps) {
  const membersOf = async (projectId: string) => {
    const list = await members.list(projectId);
    const emails = await accountStore.emailsOf(list.map(({ account_id }) => account_id));
    return list.map((member) => ({
      ...member,
      is_owner: member.role === 'owner',
      email: emails.get(member.account_id) ?? '',
    }));
  };
  const memberOf = async (projectId: string, accountId: string) => {
    const member = (await membersOf(projectId)).find(({ account_id }) => account_id === accountId);
    if (member === undefined) throw noSuchMember();
    return member;
  };
  return { membersOf, memberOf };
}

type MemberChange = {
  projectId: string;
  caller: MemberCaller;
  address: string;
  detail: Record<string, unknown>;
};

function createRecordMember({ recordActivity }: MemberDeps) {
  return (event: ActivityEvent, { projectId, caller: { actor }, address, detail }: MemberChange) =>
    recordActivity({ event, project_id: projectId, actor, address, detail });
}

/** Throws forbidden when the caller may not manage members with one of these roles. */
function requireMayManage({ role }: MemberCaller, ...managed: Role[]): void {
  if (mayManage(role, managed)) return;
  throw new RequestError('forbidden', `Only owners manage admins and owners. You are ${role}`);
}

function noSuchMember(): RequestError {
  return new RequestError('not_found', 'The project has no such member');
}
