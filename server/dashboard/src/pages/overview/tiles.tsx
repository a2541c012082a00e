import { finishedBuckets, totalsOf } from '../../api/series.ts';
import type { Outcome, OutcomeCounts, Summary, Timeseries } from '../../api/types.ts';
import { type Period, WINDOW_WORDS } from '../../app/period.ts';
import type { Previous } from '../../charts/time-series.tsx';
import { formatCount, formatShare } from '../../text/format.ts';
import { type Change, countChange, isAlarming, shareChange, thanWords } from './change.ts';
import { Tile } from './tile.tsx';

type TilesProps = {
  period: Period;
  summary: Summary | undefined;
  series: Timeseries | undefined;
  previous: (Previous & { words: string }) | undefined;
  /** The agents of a longer period: who was active then but is not now. */
  widerSummary: Summary | undefined;
  hrefOf: (outcome?: Outcome) => string;
  agentsHref: string;
};

export function Tiles({ period, summary, series, previous, widerSummary, hrefOf, agentsHref }: TilesProps) {
  const totals = summary?.totals;
  const before = previous && totalsOf(previous.series);
  const buckets = series === undefined ? [] : finishedBuckets(series);
  const change = (of: (now: OutcomeCounts, then: OutcomeCounts) => Change | undefined) =>
    totals === undefined || before === undefined ? undefined : of(totals, before);
  return (
    <div class="tiles">
      <Tile
        label="Decisions"
        href={hrefOf()}
        value={totals && formatCount(totals.total)}
        change={change((now, then) => countChange(now.total, then.total))}
        than={thanBefore(period, totals, previous)}
        spark={buckets.map(({ total }) => total)}
      />
      <Tile
        label="Denial rate"
        href={hrefOf('deny')}
        value={totals && formatShare(totals.deny, totals.total)}
        change={change(shareChange)}
        note={totals && `${formatCount(totals.deny)} denied`}
        spark={buckets.map(({ deny, total }) => (total === 0 ? 0 : deny / total))}
        isBad={totals !== undefined && before !== undefined && isAlarming(totals, before)}
      />
      <Tile
        label="Needs approval"
        href={hrefOf('needs_approval')}
        value={totals && formatCount(totals.needs_approval)}
        change={change((now, then) => countChange(now.needs_approval, then.needs_approval))}
        note={
          totals && totals.total > 0 && `${formatShare(totals.needs_approval, totals.total)} of decisions`
        }
        spark={buckets.map(({ needs_approval }) => needs_approval)}
      />
      <Tile
        label="Agents active"
        href={agentsHref}
        value={summary && formatCount(agentsIn(summary))}
        note={summary && agentsNote(summary, widerSummary)}
      />
    </div>
  );
}

function thanBefore(
  period: Period,
  totals: OutcomeCounts | undefined,
  previous: TilesProps['previous'],
): string {
  if (previous === undefined) return 'window' in period && period.window === '90d' ? 'kept for 90 days' : '';
  if (totals === undefined) return '';
  return thanWords(countChange(totals.total, totalsOf(previous.series).total), previous.words);
}

/** Compares with the agents of the wider period. */
function agentsNote(summary: Summary, wider: Summary | undefined): string {
  if (wider === undefined || wider.window === null) return 'with at least one decision';
  const known = WINDOW_WORDS[wider.window];
  if (wider.by_agent.length === 0) return `none seen in ${known}`;
  const silent = agentsIn(wider) - agentsIn(summary);
  return silent <= 0 ? `no others seen in ${known}` : `${formatCount(silent)} more seen in ${known}`;
}

/** The number of agents, including those that the list leaves out. */
function agentsIn({ by_agent, others }: Summary): number {
  return by_agent.length + (others.by_agent?.entries ?? 0);
}
