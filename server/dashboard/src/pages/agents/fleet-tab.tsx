import { call } from '../../api/call.ts';
import type { Fleet } from '../../api/types.ts';
import { useAnswer } from '../../api/use-answer.ts';
import { formatAgo, formatCount, formatDate, formatShare, zoneName } from '../../text/format.ts';
import { EmptyState, Waiting } from '../../ui/states.tsx';
import { Table } from '../../ui/table.tsx';
import { useSorted } from '../../ui/use-sorted.ts';
import type { AgentTabProps } from './agent-page.tsx';

const REFRESH_MS = 10_000;

/** The versions in use. Every policy fetch reports the version that its client holds. */
export function FleetTab({ projectId, agentName }: AgentTabProps) {
  const fleet = useAnswer(
    call('GET /v1/projects/{id}/agents/{name}/fleet', { id: projectId, name: agentName }),
    { refreshMs: REFRESH_MS },
  );
  const { data } = fleet;
  if (data === undefined) return <Waiting answer={fleet} />;
  if (data.items.length === 0) {
    return (
      <EmptyState title="No fetches of this policy yet">
        <p>
          Clients report their version at the start of each run. The service remembers the reports of the last
          24 hours, and forgets them when it restarts.
        </p>
      </EmptyState>
    );
  }
  return (
    <div class="panel">
      <p class="fleet-lead">
        <b>{formatShare(data.keys_on_latest, data.keys)}</b> of the keys in use have the latest version, v
        {data.latest.version}, saved {formatDate(data.latest.created_at)} {zoneName(data.latest.created_at)}.
      </p>
      <HeldVersions items={data.items} keys={data.keys} />
    </div>
  );
}

function HeldVersions({ items, keys }: { items: Fleet['items']; keys: number }) {
  const { sorted, column } = useSorted(
    items,
    {
      Version: ({ version }) => version ?? 0,
      Keys: (item) => item.keys,
      'Last seen': ({ last_seen }) => last_seen,
    },
    { first: '-Keys' },
  );
  return (
    <Table
      label="Versions in use"
      columns={[
        column('Version'),
        column('Keys', 'number'),
        ['Share', 'fleet-share'],
        column('Last seen'),
        'ETag',
      ]}
    >
      {sorted.map((item) => (
        <tr key={item.etag}>
          <th scope="row">
            {item.version === null ? 'unknown' : `v${item.version}`}{' '}
            {item.is_latest ? (
              <span class="tag tag-good">latest</span>
            ) : (
              <span class="tag tag-warn">outdated</span>
            )}
          </th>
          <td class="number">{formatCount(item.keys)}</td>
          <td class="fleet-share">
            <span class="bar" aria-hidden="true">
              <span
                class={item.is_latest ? 'bar-part tone-allow' : 'bar-part tone-needs_approval'}
                style={{ width: `${(item.keys / keys) * 100}%` }}
              />
            </span>
          </td>
          <td title={item.last_seen}>{formatAgo(item.last_seen)}</td>
          <td class="mono muted">{item.etag.replaceAll('"', '').slice(0, 12)}…</td>
        </tr>
      ))}
    </Table>
  );
}
