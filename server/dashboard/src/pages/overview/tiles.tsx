import type { Summary, Timeseries, WindowName } from '../../api/types.ts';
import { Sparkline } from '../../charts/sparkline.tsx';
import { formatCount, formatShare } from '../../text/format.ts';
import { WINDOW_HOURS, WINDOW_WORDS } from '../../ui/page-head.tsx';
import { type Change, countChange, shareChange, windowBefore } from './window-before.ts';

type TilesProps = {
  window: WindowName;
  summary: Summary | undefined;
  series: Timeseries | undefined;
  wider: Timeseries | undefined;
  widerSummary: Summary | undefined;
  decisionsHref: string;
};

export function Tiles({ window, summary, series, wider, widerSummary, decisionsHref }: TilesProps) {
  const totals = summary?.totals;
  const before = wider === undefined ? undefined : windowBefore(wider, WINDOW_HOURS[window]);
  const buckets = series?.buckets ?? [];
  const thanBefore = before?.total === 0 ? `none in the ${window} before` : `than the ${window} before`;
  const change = (
    of: (now: NonNullable<typeof totals>, then: NonNullable<typeof before>) => Change | undefined,
  ) => (totals === undefined || before === undefined ? undefined : of(totals, before));
  return (
    <div class="tiles">
      <Tile
        label="Decisions"
        href={`${decisionsHref}?window=${window}`}
        value={totals && formatCount(totals.total)}
        change={change((now, then) => countChange(now.total, then.total))}
        note={window === '90d' ? 'kept for 90 days' : thanBefore}
        spark={buckets.map(({ total }) => total)}
        tone="plain"
      />
      <Tile
        label="Denial rate"
        href={`${decisionsHref}?window=${window}&outcome=deny`}
        value={totals && formatShare(totals.deny, totals.total)}
        change={change(shareChange)}
        note={totals && `${formatCount(totals.deny)} denied`}
        spark={buckets.map(({ deny, total }) => (total === 0 ? 0 : deny / total))}
        tone="deny"
        isUpBad
      />
      <Tile
        label="Needed approval"
        href={`${decisionsHref}?window=${window}&outcome=needs_approval`}
        value={totals && formatCount(totals.needs_approval)}
        change={change((now, then) => countChange(now.needs_approval, then.needs_approval))}
        note={totals && `${formatShare(totals.needs_approval, totals.total)} of decisions`}
        spark={buckets.map(({ needs_approval }) => needs_approval)}
        tone="needs_approval"
      />
      <Tile
        label="Agents active"
        href={decisionsHref.replace(/decisions$/, `agents?window=${window}`)}
        value={summary && formatCount(summary.by_agent.length)}
        note={summary && agentsNote(summary, widerSummary)}
        tone="plain"
      />
    </div>
  );
}

/** Compares with the agents of the wider period. */
function agentsNote(summary: Summary, wider: Summary | undefined): string {
  if (wider === undefined || wider.window === null) return 'at least one decision';
  const known = WINDOW_WORDS[wider.window];
  const active = new Set(summary.by_agent.map(({ agent_name }) => agent_name));
  if (wider.by_agent.length === 0) return `none seen in ${known}`;
  const silent = wider.by_agent.filter(({ agent_name }) => !active.has(agent_name)).length;
  return silent === 0 ? `all agents seen in ${known}` : `${formatCount(silent)} more seen in ${known}`;
}

type TileProps = {
  label: string;
  href: string;
  value: string | undefined;
  change?: Change | undefined;
  note: string | undefined;
  spark?: number[];
  tone: string;
  isUpBad?: boolean;
};

function Tile({ label, href, value, change, note, spark, tone, isUpBad = false }: TileProps) {
  const isBad = isUpBad && change?.direction === 'up';
  return (
    <a class="tile" href={href}>
      <span class="tile-label">{label}</span>
      <span class="tile-value">{value ?? <span class="tile-wait">…</span>}</span>
      {spark !== undefined && <Sparkline values={spark} tone={tone} />}
      <span class="tile-note">
        {change !== undefined && (
          <b class={isBad ? 'change change-bad' : 'change'}>
            {{ up: '▲ ', down: '▼ ', same: '' }[change.direction]}≈ {change.text}
          </b>
        )}{' '}
        {note}
      </span>
    </a>
  );
}
