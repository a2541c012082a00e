import { useId } from 'preact/hooks';

import { hasRole, mayManage, type Role, ROLES } from '../../../../rights.ts';
import { call } from '../../api/call.ts';
import { request } from '../../api/request.ts';
import { useAnswer } from '../../api/use-answer.ts';
import { useRole } from '../../app/role.ts';
import { withArticle } from '../../text/format.ts';
import { Field } from '../../ui/field.tsx';
import { FormError } from '../../ui/form-error.tsx';
import { PageHead } from '../../ui/page-head.tsx';
import { Waiting } from '../../ui/states.tsx';
import { useForm } from '../../ui/use-form.ts';
import { MemberTable } from './member-table.tsx';
import { ROLE_TEXTS } from './role-texts.ts';

export function MembersPage({ projectId }: { projectId: string }) {
  const members = useAnswer(call('GET /v1/projects/{id}/members', { id: projectId }));
  const { role } = useRole(projectId);
  const { data: options } = useAnswer(call('GET /v1/auth/options'));
  const howToJoin =
    options?.registration === 'closed'
      ? 'Colleagues are invited by e-mail and join once they have verified.'
      : 'Colleagues register and verify their e-mail address first.';
  return (
    <>
      <PageHead title="Members" />
      <Waiting answer={members} />
      {members.data !== undefined && role !== undefined && (
        <>
          <section class="panel" aria-label="Add a member">
            {hasRole(role, 'admin') ? (
              <>
                <AddMember projectId={projectId} role={role} onAdded={members.reload} />
                <p class="muted">{howToJoin}</p>
              </>
            ) : (
              <p>Only admins and owners can add, change and remove members. You are {withArticle(role)}.</p>
            )}
          </section>
          <MemberTable
            projectId={projectId}
            role={role}
            items={members.data.items}
            onChanged={members.reload}
          />
          <dl class="role-list">
            {ROLES.map((one) => (
              <div key={one}>
                <dt>{one}</dt>
                <dd>{ROLE_TEXTS[one]}</dd>
              </div>
            ))}
          </dl>
        </>
      )}
    </>
  );
}

type AddMemberProps = { projectId: string; role: Role; onAdded: () => void };

function AddMember({ projectId, role, onAdded }: AddMemberProps) {
  const roleId = useId();
  const { onSubmit, isRunning, error } = useForm(async ({ email = '', given }, clear) => {
    const body = { email, role: ROLES.find((one) => one === given) ?? 'editor' };
    // Even if it is refused: somebody else may have added the account.
    await request(call('POST /v1/projects/{id}/members', { id: projectId }), { body }).finally(onAdded);
    clear();
  });
  const words = {
    not_found:
      'No account has this verified e-mail address. Ask the person to register and to follow the link in the e-mail.',
    conflict: 'This account is already a member.',
  } as Record<string, string>;
  return (
    <form class="inline-form" onSubmit={onSubmit}>
      <Field label="Add member by e-mail" name="email" type="email" autocomplete="off" required />
      <div class="field field-small">
        <label for={roleId}>Role</label>
        <select id={roleId} name="given">
          {ROLES.filter((one) => mayManage(role, [one])).map((one) => (
            // Spread, because the types of Preact lack it. A reset selects this option again.
            <option key={one} value={one} {...{ defaultSelected: one === 'editor' }}>
              {one}
            </option>
          ))}
        </select>
      </div>
      <button type="submit" class="primary" aria-busy={isRunning}>
        Add
      </button>
      <FormError error={error} title={error === undefined ? undefined : words[error.code]} />
    </form>
  );
}
