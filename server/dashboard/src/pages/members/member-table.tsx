import { useState } from 'preact/hooks';

import { hasRole, mayManage, type Role, ROLES } from '../../../../rights.ts';
import { call } from '../../api/call.ts';
import { request } from '../../api/request.ts';
import type { Member } from '../../api/types.ts';
import { navigate } from '../../app/location.ts';
import { useSession } from '../../app/session.tsx';
import { formatDate, zoneName } from '../../text/format.ts';
import { inertText } from '../../text/inert-text.ts';
import { Confirm } from '../../ui/confirm.tsx';
import { Inert } from '../../ui/inert.tsx';
import { Table } from '../../ui/table.tsx';
import { useSorted } from '../../ui/use-sorted.ts';
import { type Change, ChangeRole, RoleSelect } from './change-role.tsx';

type MemberTableProps = {
  projectId: string;
  /** The role of the signed-in person. */
  role: Role;
  items: Member[];
  onChanged: () => void;
};

/** The members, with the actions that are allowed on each. */
export function MemberTable({ projectId, role, items, onChanged }: MemberTableProps) {
  const ownId = useSession().me?.id;
  const [leaving, setLeaving] = useState<Member | undefined>(undefined);
  const [changing, setChanging] = useState<Change | undefined>(undefined);
  const since = `Member since (${zoneName(...items.map(({ added_at }) => added_at))})`;
  const { sorted, column } = useSorted(
    items,
    {
      Account: ({ email }) => email,
      Role: (member) => ROLES.indexOf(member.role),
      'Member since': ({ added_at }) => added_at,
    },
    { first: '' },
  );
  const isOnlyOwner = role === 'owner' && items.filter((one) => one.role === 'owner').length === 1;
  return (
    <div class="panel">
      <Table
        label="Members"
        columns={[
          column('Account'),
          column('Role'),
          column('Member since', '', since),
          ['Actions', 'hidden'],
        ]}
      >
        {sorted.map((member) => {
          const isSelf = member.account_id === ownId;
          const isManaged = !isSelf && mayManage(role, [member.role]);
          return (
            <tr key={member.account_id}>
              <th scope="row">
                <Inert text={member.email} /> {isSelf && <span class="muted">(you)</span>}
              </th>
              <td>
                {isManaged ? (
                  <RoleSelect
                    role={role}
                    member={member}
                    onChoose={(chosen) => setChanging({ member, chosen })}
                  />
                ) : (
                  <span class="tag">{member.role}</span>
                )}
              </td>
              <td>{formatDate(member.added_at)}</td>
              <td class="actions">
                {isSelf && isOnlyOwner && (
                  <span class="muted">The only owner cannot leave. Make another member owner first.</span>
                )}
                {!isSelf && !isManaged && hasRole(role, 'admin') && (
                  <span class="muted">Only owners can change this role.</span>
                )}
                {(isManaged || (isSelf && !isOnlyOwner)) && (
                  <button
                    type="button"
                    class="small danger"
                    aria-label={isSelf ? 'Leave the project' : `Remove ${inertText(member.email)}`}
                    onClick={() => setLeaving(member)}
                  >
                    {isSelf ? 'Leave' : 'Remove'}
                  </button>
                )}
              </td>
            </tr>
          );
        })}
      </Table>
      {changing !== undefined && (
        <ChangeRole {...{ projectId, onChanged }} {...changing} onClose={() => setChanging(undefined)} />
      )}
      {leaving !== undefined && (
        <RemoveMember
          {...{ projectId, role }}
          member={leaving}
          isSelf={leaving.account_id === ownId}
          onClose={() => setLeaving(undefined)}
          onChanged={onChanged}
        />
      )}
    </div>
  );
}

type RemoveMemberProps = {
  projectId: string;
  role: Role;
  member: Member;
  isSelf: boolean;
  onClose: () => void;
  onChanged: () => void;
};

function RemoveMember({ projectId, role, member, isSelf, onClose, onChanged }: RemoveMemberProps) {
  const { reload } = useSession();
  const [withKeys, setWithKeys] = useState(false);
  const params = { id: projectId, account_id: member.account_id };
  const query = { revoke_keys: withKeys ? 'true' : 'false' } as const;
  return (
    <Confirm
      title={isSelf ? 'Leave this project?' : `Remove ${inertText(member.email)}?`}
      text={
        isSelf
          ? 'You lose access to this project immediately. Only its admins and owners can add you again.'
          : 'The account loses access to this project immediately. You can add it again.'
      }
      action={isSelf ? 'Leave' : 'Remove'}
      work={async () => {
        const removal = call('DELETE /v1/projects/{id}/members/{account_id}', params, query);
        try {
          await request(removal);
        } catch (error) {
          // Somebody else may have changed the members.
          onChanged();
          throw error;
        }
        // Who has left may not read the members again.
        if (!isSelf) return onChanged();
        await reload();
        navigate('/');
      }}
      onClose={onClose}
    >
      {hasRole(role, 'admin') && (
        <div class="check-list">
          <label>
            <input
              type="checkbox"
              checked={withKeys}
              onChange={({ currentTarget }) => setWithKeys(currentTarget.checked)}
            />
            <span>
              Also revoke the keys that {isSelf ? 'you' : 'this member'} created{' '}
              <span class="muted">Agents that use them stop recording and fetching policies.</span>
            </span>
          </label>
        </div>
      )}
    </Confirm>
  );
}
