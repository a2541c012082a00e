import { call } from '../../api/call.ts';
import { request } from '../../api/request.ts';
import type { SessionItem } from '../../api/types.ts';
import type { Loaded } from '../../api/use-answer.ts';
import { formatDate, formatTime, zoneName } from '../../text/format.ts';
import { FormError } from '../../ui/form-error.tsx';
import { Inert } from '../../ui/inert.tsx';
import { Waiting } from '../../ui/states.tsx';
import { Table } from '../../ui/table.tsx';
import { useAction } from '../../ui/use-action.ts';

/** The sessions of the signed-in account, with buttons that end them. */
export function SessionList({ sessions }: { sessions: Loaded<'GET /v1/auth/sessions'> }) {
  const { run, isRunning, error } = useAction(async (id: string | undefined) => {
    const end =
      id === undefined ? call('DELETE /v1/auth/sessions') : call('DELETE /v1/auth/sessions/{id}', { id });
    // Even if it is refused: the session may have ended elsewhere.
    await request(end).finally(sessions.reload);
  });
  const items = sessions.data?.items ?? [];
  return (
    <>
      <Waiting answer={sessions} lines={2} />
      {items.length > 0 && (
        <Table
          label="Sessions"
          columns={[
            'Browser',
            'IP address',
            `Signed in (${zoneName(...items.map(({ created_at }) => created_at))})`,
            `Last used (${zoneName(...items.map(({ last_seen_at }) => last_seen_at))})`,
            ['Actions', 'hidden'],
          ]}
        >
          {items.map((item) => (
            <SessionRow key={item.id} item={item} isEnding={isRunning} end={() => void run(item.id)} />
          ))}
        </Table>
      )}
      <FormError error={error} />
      {items.length > 1 && (
        <button type="button" class="danger" aria-busy={isRunning} onClick={() => void run(undefined)}>
          End all other sessions
        </button>
      )}
    </>
  );
}

type SessionRowProps = { item: SessionItem; isEnding: boolean; end: () => void };

function SessionRow({ item, isEnding, end }: SessionRowProps) {
  const { user_agent, address, created_at, last_seen_at, is_current } = item;
  return (
    <tr>
      <th scope="row">
        <Inert text={user_agent === '' ? 'unknown' : user_agent} />{' '}
        {is_current && <span class="tag">this session</span>}
      </th>
      <td>{address === '' ? 'unknown' : address}</td>
      <td>{formatDate(created_at)}</td>
      <td>{formatTime(last_seen_at)}</td>
      <td class="actions">
        {!is_current && (
          <button type="button" class="small danger" disabled={isEnding} onClick={end}>
            End
          </button>
        )}
      </td>
    </tr>
  );
}
