import { auditOf } from '../../api/call.ts';
import type { Summary } from '../../api/types.ts';
import { useAnswer } from '../../api/use-answer.ts';
import { type Filters, narrowed } from '../../app/filters.ts';
import { hrefWith, usePlace } from '../../app/location.ts';
import type { Period } from '../../app/period.ts';
import { ErrorState } from '../../ui/states.tsx';
import type { DecisionsHref } from './overview-page.tsx';
import { type Row, ROWS, ROWS_OPEN, type Sort, TopPanel, useIsOpen } from './top-panel.tsx';

const SORTS = {
  decisions: 'Most decisions',
  denials: 'Most denials',
  approvals: 'Most needing approval',
} as const;
const REFRESH_MS = 60_000;

export type PanelsProps = { projectId: string; period: Period; filters: Filters; hrefOf: DecisionsHref };

/** The sources of decisions, as bars that link to them. */
export function TopPanels(props: PanelsProps & { summary: Summary }) {
  const { summary, hrefOf } = props;
  const given = usePlace().query.get('sort');
  const sort: Sort = given === 'denials' || given === 'approvals' ? given : 'decisions';
  const only = sort === 'decisions' ? {} : { outcome: [sort === 'denials' ? 'deny' : 'needs_approval'] };
  // Allowed calls give no reason.
  const explained = sort === 'decisions' ? { 'not.outcome': ['allow'] } : only;
  return (
    <section aria-label="Where decisions come from">
      <nav class="segments segments-small" aria-label="Order">
        {Object.entries(SORTS).map(([name, label]) => (
          <a
            key={name}
            href={hrefWith({ sort: name === 'decisions' ? undefined : name })}
            aria-current={name === sort ? 'true' : undefined}
          >
            {label}
          </a>
        ))}
      </nav>
      <div class="panel-row panel-row-3">
        {(['agent', 'role', 'tool'] as const).map((by) => {
          const rowHref = (name: string) => hrefOf({ filters: { ...only, [by]: [name] } });
          const others = summary.others[`by_${by}`];
          // The summary leaves out values with few decisions, but they may have the most denials.
          return sort === 'decisions' || others === null ? (
            <TopPanel
              key={by}
              sort={sort}
              by={by}
              rows={rowsOf(summary, by)}
              more={others?.entries ?? 0}
              hrefOf={rowHref}
            />
          ) : (
            <Broken key={by} {...props} sort={sort} by={by} only={only} rowHref={rowHref} />
          );
        })}
        {(['reason', 'user_id', 'session_id'] as const).map((by) => {
          const counted: Filters = by === 'reason' ? explained : only;
          return (
            <Broken
              key={by}
              {...props}
              sort={sort}
              by={by}
              only={{ ...counted, [`not.${by}`]: [''] }}
              rowHref={(name) => hrefOf({ filters: { ...counted, [by]: [name] } })}
            />
          );
        })}
      </div>
    </section>
  );
}

type BrokenProps = PanelsProps & {
  by: 'agent' | 'role' | 'tool' | 'reason' | 'user_id' | 'session_id';
  sort: Sort;
  /** Only these are counted. */
  only: Filters;
  rowHref: (name: string) => string;
};

function Broken({ projectId, period, filters, by, sort, only, rowHref }: BrokenProps) {
  const isOpen = useIsOpen(by);
  const limit = isOpen ? ROWS_OPEN : ROWS;
  const { data, error, reload } = useAnswer(
    auditOf(projectId, 'breakdown', { by, limit, ...period, ...narrowed(filters, only) }),
    { refreshMs: REFRESH_MS },
  );
  if (error !== undefined) return <ErrorState error={error} retry={reload} />;
  const rows = data?.items.map(({ value, ...counts }) => ({ ...counts, name: value }));
  return (
    <TopPanel
      by={by}
      sort={sort}
      rows={rows}
      more={data?.others?.entries ?? 0}
      hasRate={sort === 'decisions'}
      hrefOf={rowHref}
    />
  );
}

function rowsOf(summary: Summary, by: 'agent' | 'role' | 'tool'): Row[] {
  if (by === 'agent') return summary.by_agent.map((row) => ({ ...row, name: row.agent_name }));
  if (by === 'role') return summary.by_role.map((row) => ({ ...row, name: row.role }));
  return summary.by_tool.map((row) => ({ ...row, name: row.tool_name }));
}
