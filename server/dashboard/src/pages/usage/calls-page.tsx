import { auditOf } from '../../api/call.ts';
import type { ModelCall } from '../../api/types.ts';
import { CALL_FILTERS, filtersFrom } from '../../app/filters.ts';
import { hrefWith, usePeriod, usePlace } from '../../app/location.ts';
import { type Period, periodWords } from '../../app/period.ts';
import { projectPath, sessionPath } from '../../app/route.ts';
import { FilterBar } from '../../filters/filter-bar.tsx';
import {
  formatCompact,
  formatCost,
  formatCount,
  formatDuration,
  formatTime,
  zoneName,
} from '../../text/format.ts';
import { inertText } from '../../text/inert-text.ts';
import { Inert } from '../../ui/inert.tsx';
import { PageHead } from '../../ui/page-head.tsx';
import { EmptyState, Waiting } from '../../ui/states.tsx';
import { Table } from '../../ui/table.tsx';
import { useList } from '../../ui/use-list.tsx';
import { useSorted } from '../../ui/use-sorted.ts';

const PAGE_ROWS = 100;
const KEYS = {
  Time: ({ occurred_at }: ModelCall) => occurred_at,
  Agent: ({ agent_name }: ModelCall) => agent_name,
  Model: ({ model }: ModelCall) => model,
  Duration: ({ duration_ms }: ModelCall) => duration_ms,
  Input: ({ input_tokens }: ModelCall) => input_tokens,
  Output: ({ output_tokens }: ModelCall) => output_tokens,
  Cost: ({ cost_usd }: ModelCall) => cost_usd ?? 0,
  Result: ({ error_type, finish_reason }: ModelCall) => error_type || finish_reason,
  User: ({ user_id }: ModelCall) => user_id,
  Session: ({ session_id }: ModelCall) => session_id,
};

/** The single model calls that the sums of the page Usage count. */
export function CallsPage({ projectId }: { projectId: string }) {
  const period = usePeriod();
  const { query } = usePlace();
  const filters = filtersFrom(query, CALL_FILTERS);
  const { first, items, next, more } = useList((cursor) =>
    auditOf(projectId, 'llm-invocations', { ...period, ...filters, limit: PAGE_ROWS, cursor }),
  );
  const total = first.data?.total;
  return (
    <>
      <PageHead title="Model calls" total={total} hasPeriod>
        <a class="button" href={hrefWith({ order: undefined }, projectPath(projectId, 'usage'))}>
          Usage
        </a>
      </PageHead>
      <FilterBar projectId={projectId} period={period} filters={filters} ofCalls={CALL_FILTERS} />
      <Waiting answer={first} lines={12} />
      {total === 0 && <EmptyState title={`No model calls match in ${periodWords(period)}`} />}
      {items.length > 0 && <CallTable calls={items} projectId={projectId} period={period} />}
      {next !== undefined && (
        <p class="muted">The newest {formatCount(items.length)} are loaded; sorting orders these.</p>
      )}
      {more}
    </>
  );
}

type CallTableProps = { calls: ModelCall[]; projectId: string; period: Period };

function CallTable({ calls, projectId, period }: CallTableProps) {
  const { sorted, column } = useSorted(calls, KEYS, { first: '-Time' });
  const time = `Time (${zoneName(calls[0]?.occurred_at, calls.at(-1)?.occurred_at)})`;
  return (
    <section class="panel calls-panel" aria-label="Model calls">
      <Table
        label="List of model calls"
        columns={Object.entries(KINDS).map(([label, kind]) =>
          column(label, kind, label === 'Time' ? time : label),
        )}
      >
        {sorted.map((one) => (
          <tr key={one.event_id}>
            <td class="muted cell-when">
              <time dateTime={one.occurred_at}>{formatTime(one.occurred_at)}</time>
            </td>
            <th scope="row" {...long(one.model)}>
              <Inert text={one.model} />
            </th>
            <td {...long(one.agent_name)}>
              <Inert text={one.agent_name} />
            </td>
            {/* 0 is what is recorded of a call whose duration was not sent. */}
            <td class="number">{one.duration_ms === 0 ? '–' : formatDuration(one.duration_ms)}</td>
            <td class={KINDS.Input}>{formatCompact(one.input_tokens)}</td>
            <td class={KINDS.Output}>{formatCompact(one.output_tokens)}</td>
            <td class="number">{formatCost(one.cost_usd)}</td>
            <td {...long(one.error_type || one.finish_reason)}>
              {one.error_type === '' ? (
                <Inert text={one.finish_reason} />
              ) : (
                <span class="tag tag-bad">
                  <Inert text={one.error_type} />
                </span>
              )}
            </td>
            <td {...long(one.user_id)}>
              <Inert text={one.user_id} />
            </td>
            <td {...long(one.session_id)}>
              {one.session_id !== '' && (
                <a href={sessionPath(projectId, period, one.session_id)}>
                  <Inert text={one.session_id} />
                </a>
              )}
            </td>
          </tr>
        ))}
      </Table>
    </section>
  );
}

/** A cell that cuts a long text, which its tooltip shows in full. */
function long(text: string) {
  return { class: 'cell-long', title: inertText(text) };
}

/** The columns, each with its class. */
const KINDS = {
  Time: '',
  Model: '',
  Agent: 'cell-long',
  Duration: 'number',
  Input: 'number cell-in',
  Output: 'number cell-out',
  Cost: 'number',
  Result: 'cell-long',
  User: 'cell-long',
  Session: 'cell-long',
};
