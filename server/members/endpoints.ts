import type { MemberCaller } from '../access/access.ts';
import { hasRole, mayManage, type Role, ROLES } from '../rights.ts';
import type { ActivityEntry, RecordActivity } from '../activity/activity.ts';
import { RequestError } from '../errors.ts';
import { endpoint } from '../http/endpoint.ts';
import { RateLimit } from '../http/rate-limit.ts';
import { answer, BOOLEAN, listOf, oneOf, PROJECT_ID, STRING, TIME, UUID } from '../http/schemas.ts';
import { EMAIL_CHARS_MAX, MEMBERS_ADDED_PER_ACCOUNT_MAX } from '../limits.ts';
import { type Change, memberEntry, type Members } from './members.ts';
import { Type } from '../type.ts';

export type MemberDeps = {
  accountStore: { emailsOf(accountIds: string[]): Promise<Map<string, string>> };
  accounts: {
    /** The account that may become a member. An unverified one is invited. */
    findInvitee(
      email: string,
      address: string,
    ): Promise<{ id: string; email: string; is_verified: boolean } | undefined>;
  };
  mailRequests: { post(request: { kind: 'invite'; email: string; address: string }): void };
  members: Members;
  bearerKeys: { revokeAll(projectId: string, accountId: string): Promise<string[]> };
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

/** The members of a project. Admins manage the members below them, owners manage all. */
export function memberEndpoints(deps: MemberDeps) {
  const { membersOf, memberOf } = createMemberReads(deps);
  const additions = new RateLimit('members_added', MEMBERS_ADDED_PER_ACCOUNT_MAX);
  const { change, remove, revokeKeys } = createChanges(deps);
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
        'Adds the account with this e-mail address, which must be verified. When registration is closed, an address without an account is invited by e-mail. Only owners add admins and owners.',
      allow: { role: 'admin' },
      body: {
        schema: Type.Object({
          email: Type.String({ maxLength: EMAIL_CHARS_MAX, format: 'email' }),
          role: oneOf(ROLES, { default: 'editor' }),
        }),
        example: { email: 'ada@example.com', role: 'viewer' },
      },
      answers: { 201: { description: 'The new member', schema: MEMBER } },
      problems: ['not_found', 'conflict', 'rate_limited'],
      handle: async (call) => {
        const { email, role } = call.body;
        requireMayManage(call.caller.role, role);
        await additions.consume(call.caller.actor.account_id);
        const account = await deps.accounts.findInvitee(email, call.address);
        if (account === undefined)
          throw new RequestError('not_found', 'There is no account with that verified e-mail address');
        await change(call, { account_id: account.id, email: account.email }, (held, own) => {
          requireMayManage(own, role);
          if (held !== undefined) throw new RequestError('conflict', 'That account is already a member');
          return role;
        });
        if (!account.is_verified)
          deps.mailRequests.post({ kind: 'invite', email: account.email, address: call.address });
        return memberOf(call.params.id, account.id);
      },
    }),
    endpoint({
      ...ONE_MEMBER,
      method: 'PUT',
      id: 'changeRole',
      summary: 'Change the role of a member',
      description:
        'Only owners may give, change or take away the roles admin and owner. A project keeps at least one owner.',
      allow: { role: 'admin' },
      body: { schema: Type.Object({ role: ROLE }), example: { role: 'viewer' } },
      answers: { 200: { description: 'The member', schema: MEMBER } },
      handle: async (call) => {
        const { id, account_id } = call.params;
        const { role } = call.body;
        await change(call, await memberOf(id, account_id), (held, own) => {
          if (held === undefined) throw noSuchMember();
          const stepsDown = account_id === call.caller.actor.account_id && !hasRole(role, held);
          if (!stepsDown) requireMayManage(own, held, role);
          return role;
        });
        return memberOf(id, account_id);
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
      answers: { 204: { description: 'The account is no longer a member' } },
      query: Type.Object({
        revoke_keys: oneOf(['true', 'false'], {
          default: 'false',
          description: 'Whether to revoke the keys that the member issued, which needs the role admin',
        }),
      }),
      handle: async (call) => {
        const { id, account_id } = call.params;
        const withKeys = call.query.revoke_keys === 'true';
        if (withKeys && !hasRole(call.caller.role, 'admin'))
          throw new RequestError('forbidden', 'Revoking keys needs the role admin');
        const member = (await membersOf(id)).find((one) => one.account_id === account_id);
        if (member !== undefined) await remove(call, member);
        const revoked = withKeys ? await revokeKeys(call, account_id) : [];
        // The keys of an account that has already left can also be revoked: an earlier call may have failed between the two steps.
        if (member === undefined && revoked.length === 0) throw noSuchMember();
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

type MemberCall = {
  caller: MemberCaller;
  params: { id: string };
  readonly address: string;
  confirm(takeBack: () => Promise<unknown>): Promise<void>;
};
type Named = { account_id: string; email: string };

function createChanges({ members, bearerKeys, recordActivity }: MemberDeps) {
  const entryOf = (
    { caller: { actor }, params, address }: MemberCall,
    entry: Pick<ActivityEntry, 'event' | 'detail'>,
  ) => ({ ...entry, project_id: params.id, actor, address });
  const change = async (call: MemberCall, { account_id, email }: Named, roleFrom: Change) => {
    const membership = {
      projectId: call.params.id,
      accountId: account_id,
      changedBy: call.caller.actor.account_id,
    };
    const changed = await members.change(membership, roleFrom);
    // A password reset may have removed the other members before this one was stored.
    if (changed.before === undefined)
      await call.confirm(() =>
        members.change(membership, (held) => (held === changed.role ? undefined : held)),
      );
    const entry = memberEntry({ account_id, email }, changed);
    if (entry !== undefined) await recordActivity(entryOf(call, entry));
  };
  const remove = (call: MemberCall, member: Named) =>
    change(call, member, (held, own) => {
      if (held === undefined) throw noSuchMember();
      if (member.account_id !== call.caller.actor.account_id) requireMayManage(own, held);
      return undefined;
    });
  const revokeKeys = async (call: MemberCall, accountId: string) => {
    const revoked = await bearerKeys.revokeAll(call.params.id, accountId);
    await recordActivity(
      revoked.map((key_id) => entryOf(call, { event: 'key_revoked', detail: { key_id } })),
    );
    return revoked;
  };
  return { change, remove, revokeKeys };
}

/** Throws forbidden when the caller may not manage members with one of these roles. */
function requireMayManage(own: Role | undefined, ...managed: Role[]): void {
  if (own !== undefined && mayManage(own, managed)) return;
  const yours = own === undefined ? 'You are not a member' : `Your role is ${own}`;
  throw new RequestError('forbidden', `Only owners manage admins and owners. ${yours}`);
}

function noSuchMember(): RequestError {
  return new RequestError('not_found', 'The project has no such member');
}
