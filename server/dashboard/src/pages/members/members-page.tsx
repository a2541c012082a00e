import { useState } from 'preact/hooks';

import { call } from '../../api/call.ts';
import { request } from '../../api/request.ts';
import type { Member } from '../../api/types.ts';
import { useAnswer } from '../../api/use-answer.ts';
import { formatDate } from '../../text/format.ts';
import { inertText } from '../../text/inert-text.ts';
import { Confirm } from '../../ui/confirm.tsx';
import { Field } from '../../ui/field.tsx';
import { FormError } from '../../ui/form-error.tsx';
import { Inert } from '../../ui/inert.tsx';
import { PageHead } from '../../ui/page-head.tsx';
import { ErrorState, Loading } from '../../ui/states.tsx';
import { Table } from '../../ui/table.tsx';
import { useAction } from '../../ui/use-action.ts';
import { submitted } from '../account/door.tsx';

export function MembersPage({ projectId }: { projectId: string }) {
  const members = useAnswer(call('GET /v1/projects/{id}/members', { params: { id: projectId } }));
  return (
    <>
      <PageHead title="Members" />
      {members.error !== undefined && <ErrorState error={members.error} retry={members.reload} />}
      {members.isLoading && <Loading />}
      {members.data !== undefined && (
        <>
          <section class="panel" aria-label="Add a member">
            <AddMember projectId={projectId} onAdded={members.reload} />
          </section>
          <MemberTable projectId={projectId} items={members.data.items} onRemoved={members.reload} />
        </>
      )}
    </>
  );
}

function AddMember({ projectId, onAdded }: { projectId: string; onAdded: () => void }) {
  const [round, setRound] = useState(0);
  const { run, isRunning, error } = useAction(async ({ email = '' }: Record<string, string>) => {
    const body = { email, role: 'editor' } as const;
    await request(call('POST /v1/projects/{id}/members', { params: { id: projectId } }), { body });
    setRound(round + 1);
    onAdded();
  });
  const words = {
    not_found:
      'No account has this verified e-mail address. Ask the person to register and to follow the link in the e-mail.',
    conflict: 'This account is already a member.',
  } as Record<string, string>;
  return (
    <form
      key={round}
      class="inline-form"
      onSubmit={(event) => submitted(event, (values) => void run(values))}
    >
      <Field label="Add member by e-mail" name="email" type="email" autocomplete="off" required />
      <button type="submit" class="primary" disabled={isRunning}>
        Add
      </button>
      <FormError error={error} title={error === undefined ? undefined : words[error.code]} />
    </form>
  );
}

type MemberTableProps = { projectId: string; items: Member[]; onRemoved: () => void };

function MemberTable({ projectId, items, onRemoved }: MemberTableProps) {
  const [removing, setRemoving] = useState<Member | undefined>(undefined);
  return (
    <div class="panel">
      <Table label="Members" columns={['Account', 'Since (UTC)', ['Actions', 'hidden']]}>
        {items.map((member) => (
          <tr key={member.account_id}>
            <th scope="row">
              <Inert text={member.email} /> {member.is_owner && <span class="tag">owner</span>}
            </th>
            <td>{formatDate(member.added_at)}</td>
            <td class="actions">
              {!member.is_owner && (
                <button
                  type="button"
                  class="small danger"
                  aria-label={`Remove ${inertText(member.email)}`}
                  onClick={() => setRemoving(member)}
                >
                  Remove
                </button>
              )}
            </td>
          </tr>
        ))}
      </Table>
      {removing !== undefined && (
        <Confirm
          title={`Remove ${inertText(removing.email)}?`}
          text="The account loses access to this project immediately. You can add it again."
          action="Remove"
          work={() =>
            request(
              call('DELETE /v1/projects/{id}/members/{account_id}', {
                params: { id: projectId, account_id: removing.account_id },
              }),
            )
          }
          onClose={() => setRemoving(undefined)}
          onDone={onRemoved}
        />
      )}
    </div>
  );
}
