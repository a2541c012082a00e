import { mayManage, type Role, ROLES } from '../../../../rights.ts';
import { call } from '../../api/call.ts';
import { request } from '../../api/request.ts';
import type { Member } from '../../api/types.ts';
import { inertText } from '../../text/inert-text.ts';
import { Confirm } from '../../ui/confirm.tsx';
import { useSay } from '../../ui/toast.tsx';
import { ROLE_TEXTS } from './role-texts.ts';

type RoleSelectProps = { role: Role; member: Member; onChoose: (chosen: Role) => void };

export function RoleSelect({ role, member, onChoose }: RoleSelectProps) {
  return (
    <select
      aria-label={`Role of ${inertText(member.email)}`}
      value={member.role}
      onChange={({ currentTarget }) => {
        const chosen = ROLES.find((one) => one === currentTarget.value);
        // The list shows the new role once it is stored.
        currentTarget.value = member.role;
        if (chosen !== undefined) onChoose(chosen);
      }}
    >
      {ROLES.filter((one) => mayManage(role, [one])).map((one) => (
        <option key={one} value={one}>
          {one}
        </option>
      ))}
    </select>
  );
}

export type Change = { member: Member; chosen: Role };
type ChangeRoleProps = Change & { projectId: string; onClose: () => void; onChanged: () => void };

/** An arrow key on a closed list chooses at once, so a role is given only when this is confirmed. */
export function ChangeRole({ projectId, member, chosen, onClose, onChanged }: ChangeRoleProps) {
  const say = useSay();
  const email = inertText(member.email);
  const params = { id: projectId, account_id: member.account_id };
  return (
    <Confirm
      title={`Change the role of ${email}?`}
      text={`From ${member.role} to ${chosen}, who ${ROLE_TEXTS[chosen]}.`}
      action="Change role"
      work={async () => {
        const change = call('PUT /v1/projects/{id}/members/{account_id}', params);
        // Even if it is refused: somebody else may have changed the members.
        await request(change, { body: { role: chosen } }).finally(onChanged);
        say(`${email} is now ${chosen}.`);
      }}
      onClose={onClose}
      keepsOpener
    />
  );
}
