import { useState } from 'preact/hooks';

import { hasRole } from '../../../../rights.ts';
import { call } from '../../api/call.ts';
import { request } from '../../api/request.ts';
import { serviceTime } from '../../api/service-clock.ts';
import type { KeyItem, NewKey } from '../../api/types.ts';
import { useAnswer } from '../../api/use-answer.ts';
import { useRole } from '../../app/role.ts';
import { useSecrets } from '../../app/secrets.tsx';
import { countText, formatAgo, formatDate, withArticle, zoneName } from '../../text/format.ts';
import { inertText } from '../../text/inert-text.ts';
import { CodeBlock } from '../../ui/code-block.tsx';
import { Confirm } from '../../ui/confirm.tsx';
import { Icon } from '../../ui/icon.tsx';
import { Inert } from '../../ui/inert.tsx';
import { PageHead } from '../../ui/page-head.tsx';
import { EmptyState, Loading, Waiting } from '../../ui/states.tsx';
import { Table } from '../../ui/table.tsx';
import { useSay } from '../../ui/toast.tsx';
import { useSignal } from '../../ui/use-action.ts';
import { useSorted } from '../../ui/use-sorted.ts';
import { NewKeyForm } from './new-key-form.tsx';
import { scopeText } from './scope-labels.ts';

const AGENTS_CHARS_MAX = 100;

/** The project's bearer keys. A key is shown only once, right after it is created. */
export function KeysPage({ projectId }: { projectId: string }) {
  const { role, isLoading } = useRole(projectId);
  const isRefused = role !== undefined && !hasRole(role, 'admin');
  return (
    <>
      <PageHead title="Keys" />
      {isLoading && <Loading />}
      {isRefused && (
        <EmptyState title="Only admins and owners can see and create keys">
          <p>You are {withArticle(role)} of this project. Ask an owner for another role, or for a key.</p>
        </EmptyState>
      )}
      {!isLoading && !isRefused && <Keys projectId={projectId} />}
    </>
  );
}

function Keys({ projectId }: { projectId: string }) {
  const keys = useAnswer(call('GET /v1/projects/{id}/keys', { id: projectId }));
  const { secrets, keep, drop } = useSecrets(projectId, 'keys');
  const signal = useSignal();
  const say = useSay();
  const onMade = ({ key_id, name, key }: NewKey) => {
    keep({ id: key_id, name, text: key });
    if (signal.aborted) say('The new key waits on the page Keys.');
    keys.reload();
  };
  const onRevoked = (keyId: string) => {
    drop(keyId);
    keys.reload();
  };
  return (
    <>
      {secrets.map(({ id, name, text }) => (
        <KeyOnce key={id} name={name} text={text} onDone={() => drop(id)} />
      ))}
      <Waiting answer={keys} />
      {keys.data !== undefined && (
        <section class="panel" aria-label="New key">
          <NewKeyForm projectId={projectId} onMade={onMade} />
        </section>
      )}
      {keys.data?.items.length === 0 && (
        <EmptyState title="No keys yet">
          <p>An agent needs a key to record decisions and to fetch its policy.</p>
        </EmptyState>
      )}
      {keys.data !== undefined && keys.data.items.length > 0 && (
        <KeyTable projectId={projectId} items={keys.data.items} onRevoked={onRevoked} />
      )}
    </>
  );
}

function KeyOnce({ name, text, onDone }: { name: string; text: string; onDone: () => void }) {
  return (
    <section class="key-once" role="status" aria-label="The new key">
      <p>
        <b>Copy the key {name !== '' && <Inert text={name} />} now.</b> It is not stored and cannot be shown
        again. Set GATE_API_KEY (audit) and GATE_KEY (policy) of your agent to it.
      </p>
      <CodeBlock text={text} label={`Key ${inertText(name)}`} />
      <div>
        <button type="button" onClick={onDone}>
          <Icon name="check" /> Done
        </button>
      </div>
    </section>
  );
}

type KeyTableProps = { projectId: string; items: KeyItem[]; onRevoked: (keyId: string) => void };

/** A key without a name is shown by the first digits of its id. */
function shownName({ name, key_id }: KeyItem): string {
  return name === '' ? key_id.slice(0, 8) : name;
}

function KeyTable({ projectId, items, onRevoked }: KeyTableProps) {
  const [revoking, setRevoking] = useState<KeyItem | undefined>(undefined);
  const expires = `Expires (${zoneName(...items.map(({ expires_at }) => expires_at))})`;
  const { sorted, column } = useSorted(
    items,
    {
      Name: shownName,
      Status: stateOf,
      Created: ({ created_at }) => created_at,
      'Created by': ({ created_by }) => created_by,
      // A key that never expires comes after every date.
      Expires: ({ expires_at }) => expires_at ?? '~',
    },
    { first: '-Created' },
  );
  return (
    <div class="panel">
      <Table
        label="Keys"
        columns={[
          column('Name'),
          column('Status'),
          'Permissions',
          column('Created'),
          column('Created by'),
          column('Expires', '', expires),
          ['Actions', 'hidden'],
        ]}
      >
        {sorted.map((key) => (
          <tr key={key.key_id}>
            <th scope="row" title={key.key_id}>
              {key.name === '' ? <span class="muted">{shownName(key)}</span> : <Inert text={key.name} />}
            </th>
            <td>
              <span class={`tag ${STATE_TAGS[stateOf(key)]}`}>{stateOf(key)}</span>
            </td>
            <td class="muted">
              {scopeText(key.scope)}
              {key.agents !== undefined && <Agents names={key.agents} />}
            </td>
            <td class="cell-when" title={formatDate(key.created_at)}>
              {formatAgo(key.created_at)}
            </td>
            <td class="muted">{key.created_by === '' ? 'unknown' : <Inert text={key.created_by} />}</td>
            <td>{key.expires_at === null ? 'never' : formatDate(key.expires_at)}</td>
            <td class="actions">
              {(key.revoked_at ?? null) === null && (
                <button
                  type="button"
                  class="small danger"
                  aria-label={`Revoke ${inertText(key.name) || key.key_id}`}
                  onClick={() => setRevoking(key)}
                >
                  Revoke
                </button>
              )}
            </td>
          </tr>
        ))}
      </Table>
      {revoking !== undefined && (
        <Confirm
          title={`Revoke ${inertText(revoking.name) || 'this key'}?`}
          text="Requests with this key fail immediately. This cannot be undone."
          action="Revoke"
          work={() =>
            request(
              call('DELETE /v1/projects/{id}/keys/{key_id}', { id: projectId, key_id: revoking.key_id }),
            )
          }
          onClose={() => setRevoking(undefined)}
          onDone={() => onRevoked(revoking.key_id)}
        />
      )}
    </div>
  );
}

/** The agents that a key is limited to. Many, or long names, open on demand. */
function Agents({ names }: { names: string[] }) {
  const line = names.join(', ');
  if (line.length <= AGENTS_CHARS_MAX)
    return (
      <div>
        limited to <Inert text={line} />
      </div>
    );
  return (
    <details>
      <summary>limited to {countText(names.length, 'agent')}</summary>
      <ul>
        {names.map((name, index) => (
          <li key={index}>
            <Inert text={name} as="block" />
          </li>
        ))}
      </ul>
    </details>
  );
}

const STATE_TAGS = { revoked: 'tag-bad', expired: 'tag-warn', active: 'tag-good' } as const;

function stateOf({ revoked_at, expires_at }: KeyItem): keyof typeof STATE_TAGS {
  if (revoked_at !== null && revoked_at !== undefined) return 'revoked';
  return expires_at !== null && Date.parse(expires_at) <= serviceTime() ? 'expired' : 'active';
}
