import { call } from '../../api/call.ts';
import type { ActivityItem } from '../../api/types.ts';
import { formatTime, zoneName } from '../../text/format.ts';
import { Inert } from '../../ui/inert.tsx';
import { PageHead } from '../../ui/page-head.tsx';
import { EmptyState, Waiting } from '../../ui/states.tsx';
import { Table } from '../../ui/table.tsx';
import { useList } from '../../ui/use-list.tsx';

const WORDS: Record<string, string> = {
  account_registered: 'registered',
  email_verified: 'verified the e-mail address',
  password_reset: 'reset the password',
  password_changed: 'changed the password',
  sessions_ended: 'ended sessions',
  login: 'signed in',
  login_failed: 'failed to sign in',
  logout: 'signed out',
  project_created: 'created the project',
  member_added: 'added a member',
  member_removed: 'removed a member',
  member_role_changed: 'changed the role of a member',
  key_issued: 'created a key',
  key_revoked: 'revoked a key',
  policy_saved: 'saved a version of an agent',
  alerts_changed: 'changed the alerts',
  webhook_set: 'set the webhook of alerts',
  webhook_removed: 'removed the webhook of alerts',
  records_read: 'read records',
  records_exported: 'exported records',
};
const BAD = new Set(['login_failed', 'key_revoked', 'member_removed']);

/** The activity of people in this project, newest first. */
export function ActivityPage({ projectId }: { projectId: string }) {
  const { first, items, more } = useList((cursor) =>
    call('GET /v1/projects/{id}/activity', { id: projectId }, { limit: 50, cursor }),
  );
  return (
    <>
      <PageHead title="Activity" />
      <Waiting answer={first} lines={8} />
      {first.data?.items.length === 0 && (
        <EmptyState title="No activity yet">
          <p>Sign-ins and changes to keys, members and policies appear here.</p>
        </EmptyState>
      )}
      {items.length > 0 && (
        <div class="panel">
          <Table
            label="Activity"
            columns={[
              `Time (${zoneName(items[0]?.occurred_at, items.at(-1)?.occurred_at)})`,
              'Who',
              'What',
              'Details',
              'IP address',
            ]}
          >
            {items.map((item) => (
              <ActivityRow key={item.id} item={item} />
            ))}
          </Table>
        </div>
      )}
      {more}
    </>
  );
}

function ActivityRow({ item }: { item: ActivityItem }) {
  const who =
    item.email !== '' ? item.email : item.key_id !== '' ? `key ${item.key_id.slice(0, 8)}` : 'unknown';
  return (
    <tr>
      <td class="muted cell-when">
        <time dateTime={item.occurred_at}>{formatTime(item.occurred_at)}</time>
      </td>
      <th scope="row">
        <Inert text={who} />
      </th>
      <td>
        <span class={BAD.has(item.event) ? 'tag tag-warn' : 'tag'}>{WORDS[item.event] ?? item.event}</span>
      </td>
      <td class="muted cell-long">
        <Inert text={detailText(item)} />
      </td>
      <td class="muted">
        <Inert text={item.address} />
      </td>
    </tr>
  );
}

function detailText({ detail }: ActivityItem): string {
  if (detail['muted_until'] === null) return 'unmuted';
  return Object.entries(detail)
    .filter(([, value]) => value !== null && value !== '')
    .map(
      ([name, value]) =>
        `${name.replaceAll('_', ' ')} ${typeof value === 'string' ? value : JSON.stringify(value)}`,
    )
    .join(' · ');
}
