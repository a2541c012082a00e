import { call } from '../../api/call.ts';
import type { UsageCounts } from '../../api/types.ts';
import { useAnswer } from '../../api/use-answer.ts';
import type { Filters } from '../../app/filters.ts';
import { hrefWith, usePlace } from '../../app/location.ts';
import type { Period } from '../../app/period.ts';
import { formatCount } from '../../text/format.ts';
import { ErrorState } from '../../ui/states.tsx';
import { NUMBER_LABELS, OnlyLink, sizeBy, UsageLine, UsageTable } from './usage-table.tsx';

const ROWS = 10;
/** All of them could be more than a page takes. */
const ROWS_OPEN = 200;
const REFRESH_MS = 60_000;
const TITLES = { user_id: ['By user', 'User'], session_id: ['By session', 'Session'] } as const;

type TopProps = {
  projectId: string;
  period: Period;
  filters: Filters;
  by: keyof typeof TITLES;
  totals: UsageCounts;
  hrefOf: (value: string) => string;
};

/** The values of one field that cost most. A link shows more of them. */
export function TopUsage({ projectId, period, filters, by, totals, hrefOf }: TopProps) {
  const isOpen = usePlace().query.get('all') === by;
  const limit = isOpen ? ROWS_OPEN : ROWS;
  const { data, error, reload } = useAnswer(
    call('GET /v1/projects/{id}/audit/llm-usage/breakdown', {
      params: { id: projectId },
      query: { by, limit, ...period, ...filters },
    }),
    { refreshMs: REFRESH_MS },
  );
  if (data === undefined && error !== undefined) return <ErrorState error={error} retry={reload} />;
  const [title, of] = TITLES[by];
  const rest = data?.others?.entries ?? 0;
  const numbers = NUMBER_LABELS.map((label) => [label, 'number'] as const);
  return (
    <UsageTable
      title={title}
      columns={[of, [sizeBy(totals).share, 'usage-share'], ...numbers]}
      foot={
        (isOpen || rest > 0) && (
          <p class="panel-foot">
            {isOpen && rest > 0 && <span class="muted">{formatCount(rest)} more cost less. </span>}
            <a href={hrefWith({ all: isOpen ? undefined : by })}>
              {isOpen ? 'Show fewer' : `${formatCount(rest)} more`}
            </a>
          </p>
        )
      }
    >
      {data?.items.map(({ value, first: _first, last: _last, ...counts }) => (
        <UsageLine key={value} row={{ ...counts, name: value }} totals={totals} href={hrefOf(value)}>
          <OnlyLink name={value} href={hrefWith({ [by]: value, [`not.${by}`]: undefined })} />
        </UsageLine>
      ))}
    </UsageTable>
  );
}
