import { auditOf } from '../../api/call.ts';
import type { UsageCounts } from '../../api/types.ts';
import { useAnswer } from '../../api/use-answer.ts';
import type { Filters } from '../../app/filters.ts';
import { hrefWith, usePlace } from '../../app/location.ts';
import type { Period } from '../../app/period.ts';
import { formatCount } from '../../text/format.ts';
import { ErrorState } from '../../ui/states.tsx';
import { DecisionsLink, OnlyLink, orderParam, UsageLine, UsageTable, useUsageOrder } from './usage-table.tsx';

const ROWS = 10;
/** All of them could be too many for a page. */
const ROWS_OPEN = 200;
/** The answer is sorted by cost. For any other order, the page sorts the longest list available. */
const ROWS_SORTED = 1000;
const REFRESH_MS = 60_000;
const TITLES = { user_id: ['By user', 'User'], session_id: ['By session', 'Session'] } as const;

type TopProps = {
  projectId: string;
  period: Period;
  filters: Filters;
  by: keyof typeof TITLES;
  totals: UsageCounts;
  hrefOf: (value: string) => string;
  decisionsHref: (value: string) => string;
};

/** The first values of one field, by cost or in the order chosen in the column heads. A link shows more. */
export function TopUsage(props: TopProps) {
  const { projectId, period, filters, by, totals, hrefOf, decisionsHref } = props;
  const [title, of] = TITLES[by];
  const { query } = usePlace();
  const isOpen = query.get('all') === by;
  const isByCost = totals.cost_usd > 0 && !query.has(orderParam(of));
  const shown = isOpen ? ROWS_OPEN : ROWS;
  const limit = isByCost ? shown : ROWS_SORTED;
  const { data, error, reload } = useAnswer(
    auditOf(projectId, 'llm-usage/breakdown', { by, limit, ...period, ...filters }),
    { refreshMs: REFRESH_MS },
  );
  const items = data?.items ?? [];
  const rows = items.map(({ value, first: _first, last: _last, ...counts }) => ({ ...counts, name: value }));
  const { sorted, columns } = useUsageOrder(rows, { of, totals });
  if (error !== undefined) return <ErrorState error={error} retry={reload} />;
  const unlisted = data?.others?.entries ?? 0;
  const rest = Math.max(0, rows.length - shown) + unlisted;
  return (
    <UsageTable
      title={title}
      columns={columns}
      foot={
        (isOpen || rest > 0) && (
          <p class="panel-foot">
            {!isByCost && unlisted > 0 && (
              <span class="muted">Only the {formatCount(ROWS_SORTED)} that cost most are sorted. </span>
            )}
            {isOpen && rest > 0 && <span class="muted">{formatCount(rest)} more. </span>}
            <a href={hrefWith({ all: isOpen ? undefined : by })}>
              {isOpen ? 'Show fewer' : `${formatCount(rest)} more`}
            </a>
          </p>
        )
      }
    >
      {data &&
        sorted.slice(0, shown).map((row) => (
          <UsageLine key={row.name} row={row} totals={totals} href={hrefOf(row.name)}>
            <OnlyLink name={row.name} href={hrefWith({ [by]: row.name, [`not.${by}`]: undefined })} />
            <DecisionsLink name={row.name} href={decisionsHref(row.name)} />
          </UsageLine>
        ))}
    </UsageTable>
  );
}
