import { linkOf, sentenceOf } from '../../../../alerts/alert-words.ts';
import { call } from '../../api/call.ts';
import type { AlertItem } from '../../api/types.ts';
import { formatTime, zoneName } from '../../text/format.ts';
import { Inert } from '../../ui/inert.tsx';
import { EmptyState, Waiting } from '../../ui/states.tsx';
import { Table } from '../../ui/table.tsx';
import { useList } from '../../ui/use-list.tsx';
import { RULE_LABELS } from './rule-switches.tsx';

const STATES: Record<AlertItem['state'], string> = {
  pending: 'On its way',
  sent: 'Sent',
  muted: 'Muted',
  failed: 'Not delivered',
};

/** The alerts so far, newest first, each with a link to its records. */
export function AlertHistory({ projectId, refreshMs }: { projectId: string; refreshMs: number }) {
  const { first, items, more } = useList(
    (cursor) => call('GET /v1/projects/{id}/alerts', { id: projectId }, { limit: 50, cursor }),
    { refreshMs },
  );
  return (
    <>
      <Waiting answer={first} lines={4} />
      {first.data?.items.length === 0 && (
        <EmptyState title="No alerts in the last 90 days">
          <p>Alerts appear here when a rule is on and finds something.</p>
        </EmptyState>
      )}
      {items.length > 0 && (
        <div class="panel">
          <Table
            label="History"
            columns={[
              `Time (${zoneName(items[0]?.fired_at, items.at(-1)?.fired_at)})`,
              'Rule',
              'What happened',
              'Delivery',
              ['Link', 'hidden'],
            ]}
          >
            {items.map((item) => (
              <AlertRow key={item.id} projectId={projectId} item={item} />
            ))}
          </Table>
        </div>
      )}
      {more}
    </>
  );
}

function AlertRow({ projectId, item }: { projectId: string; item: AlertItem }) {
  const facts = {
    ...item,
    project_id: projectId,
    tool_name: item.tool_name ?? '',
    range_from: item.from,
    range_to: item.to,
    usual_total: item.usual.total,
    usual_denied: item.usual.denied,
  };
  return (
    <tr>
      <td class="muted cell-when">
        <time dateTime={item.fired_at}>{formatTime(item.fired_at)}</time>
      </td>
      <th scope="row">{RULE_LABELS[item.rule]}</th>
      <td>
        <Inert text={sentenceOf(facts)} as="block" />
      </td>
      <td>
        <span class={item.state === 'failed' ? 'tag tag-warn' : 'tag'}>{STATES[item.state]}</span>
      </td>
      <td>
        <a href={linkOf(facts, '')}>View decisions</a>
      </td>
    </tr>
  );
}
