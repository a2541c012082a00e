import { type FilterName } from '../../api/call.ts';
import { projectPath } from '../../app/route.ts';
import { hrefWith, usePlace } from '../../app/location.ts';
import type { OutcomeCounts, Summary, WindowName } from '../../api/types.ts';
import { formatCompact, formatCount, formatShare } from '../../text/format.ts';
import { Inert, Role } from '../../ui/inert.tsx';
import { Loading } from '../../ui/states.tsx';

const ROWS = 8;
const SORTS = { decisions: 'Most decisions', denials: 'Most denials', approvals: 'Most approvals' } as const;
type Sort = keyof typeof SORTS;
type Row = OutcomeCounts & { name: string };

/** Agents, roles and tools as bars that link to their decisions. */
export function TopPanels(props: { projectId: string; window: WindowName; summary: Summary | undefined }) {
  const { summary } = props;
  const given = usePlace().query.get('sort');
  const sort: Sort = given === 'denials' || given === 'approvals' ? given : 'decisions';
  const agents = summary?.by_agent.map((row) => ({ ...row, name: row.agent_name }));
  const roles = summary?.by_role.map((row) => ({ ...row, name: row.role }));
  const tools = summary?.by_tool.map((row) => ({ ...row, name: row.tool_name }));
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
        <TopPanel {...props} title="Agents" filter="agent" rows={agents} sort={sort} />
        <TopPanel {...props} title="Roles" filter="role" rows={roles} sort={sort} />
        <TopPanel {...props} title="Tools" filter="tool" rows={tools} sort={sort} />
      </div>
    </section>
  );
}

type TopPanelProps = {
  projectId: string;
  window: WindowName;
  title: string;
  filter: FilterName;
  rows: Row[] | undefined;
  sort: Sort;
};

const SORT_KEYS = { decisions: 'total', denials: 'deny', approvals: 'needs_approval' } as const;
const SORT_OUTCOMES = { decisions: undefined, denials: 'deny', approvals: 'needs_approval' } as const;

function TopPanel({ projectId, window, title, filter, rows, sort }: TopPanelProps) {
  const key = SORT_KEYS[sort];
  const sorted = rows?.filter((row) => row[key] > 0).sort((a, b) => b[key] - a[key]);
  const max = sorted?.[0]?.[key] ?? 0;
  const outcome = SORT_OUTCOMES[sort];
  const hrefOf = (name: string) => {
    const filters = { window, [filter]: name, ...(outcome === undefined ? {} : { outcome }) };
    return `${projectPath(projectId, 'decisions')}?${new URLSearchParams(filters)}`;
  };
  return (
    <section class="panel" aria-label={title}>
      <h2>{title}</h2>
      {sorted === undefined && <Loading lines={5} />}
      {sorted?.length === 0 && <p class="muted">None in this period.</p>}
      <ol class="bars">
        {sorted?.slice(0, ROWS).map((row) => (
          <li key={row.name}>
            <a class="bar-row" href={hrefOf(row.name)}>
              <span class="bar-name">
                {filter === 'role' ? <Role role={row.name} /> : <Inert text={row.name} />}
              </span>
              <span class="bar-count" title={formatCount(row.total)}>
                {formatCompact(row[key])}
              </span>
              <span class="bar-rate">
                {formatShare(row.deny, row.total)}
                <span class="visually-hidden"> denied</span>
              </span>
              <Bar row={row} max={max} sort={sort} />
            </a>
          </li>
        ))}
      </ol>
      {sorted !== undefined && sorted.length > ROWS && (
        <p class="muted panel-foot">{formatCount(sorted.length - ROWS)} more</p>
      )}
    </section>
  );
}

function Bar({ row, max, sort }: { row: Row; max: number; sort: Sort }) {
  const parts =
    sort === 'decisions' ? (['deny', 'needs_approval', 'allow'] as const) : ([SORT_KEYS[sort]] as const);
  return (
    <span class="bar" aria-hidden="true">
      {parts.map((part) => (
        <span
          key={part}
          class={`bar-part fill-${part}`}
          style={{
            width: `${max === 0 ? 0 : (((row as Record<string, number | string>)[part] as number) / max) * 100}%`,
          }}
        />
      ))}
    </span>
  );
}
