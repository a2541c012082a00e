import { auditOf, call } from '../../api/call.ts';
import { finishedBuckets, totalsOf } from '../../api/series.ts';
import { serviceTime } from '../../api/service-clock.ts';
import type { VersionSummary } from '../../api/types.ts';
import { type Loaded, useAnswer } from '../../api/use-answer.ts';
import { hrefWith } from '../../app/location.ts';
import { WINDOW_HOURS, WINDOW_WORDS } from '../../app/period.ts';
import { placeWith, projectPath } from '../../app/route.ts';
import {
  COMPACT_TILE_USD,
  countText,
  formatAgo,
  formatCompact,
  formatCompactCost,
  formatCost,
  formatCount,
  formatDate,
  formatShare,
  zoneName,
} from '../../text/format.ts';
import { Inert } from '../../ui/inert.tsx';
import { Notice } from '../../ui/notice.tsx';
import { countChange, isAlarming, shareChange } from '../overview/change.ts';
import { Tile } from '../overview/tile.tsx';
import { usePrevious } from '../overview/use-previous.ts';
import { DAY_MS } from '../../../../durations.ts';

export const WINDOW = '7d';
const REFRESH_MS = 60_000;
const VERSIONS_MAX = 4;

type HealthProps = {
  projectId: string;
  agentName: string;
  /** Newest first. */
  versions: Loaded<'GET /v1/projects/{id}/agents/{name}/versions'>;
  /** No call is made before this is true. */
  isReady: boolean;
};

/** The health of an agent in the last days: its last decision, its decisions and denials, its cost and its versions. */
export function AgentHealth(props: HealthProps) {
  const { projectId, versions } = props;
  const { last, counts, before, series, usage, fleet, failed, errors } = useHealth(props);
  const latest = versions.data && (versions.data.items[0]?.version ?? 1);
  const of = { window: WINDOW, agent: props.agentName };
  const decisions = (outcome?: string) => placeWith(projectPath(projectId, 'decisions'), { ...of, outcome });
  const buckets = series === undefined ? [] : finishedBuckets(series);
  const isBad = counts !== undefined && before !== undefined && isAlarming(counts, before);
  return (
    <section class="health" aria-label={`Health in the last ${WINDOW_WORDS[WINDOW]}`}>
      <div class="tiles tiles-5">
        <Tile
          label="Last decision"
          href={placeWith(projectPath(projectId, 'decisions'), { ...of, window: '90d' })}
          error={errors.seen}
          value={last === null ? 'never' : last && formatAgo(last)}
          note={
            last === null ? `not in ${WINDOW_WORDS['90d']}` : last && `${formatDate(last)} ${zoneName(last)}`
          }
        />
        <Tile
          label="Decisions, 7 days"
          href={decisions()}
          error={errors.series}
          value={counts && formatCompact(counts.total)}
          change={counts && before && countChange(counts.total, before.total)}
          note={counts && `${rateText(counts.total)} an hour`}
          spark={buckets.map(({ total }) => total)}
        />
        <Tile
          label="Denial rate, 7 days"
          href={decisions('deny')}
          error={errors.series}
          value={counts && formatShare(counts.deny, counts.total)}
          change={counts && before && shareChange(counts, before)}
          note={counts && `${formatCount(counts.deny)} denied`}
          spark={buckets.map(({ deny, total }) => (total === 0 ? 0 : deny / total))}
          isBad={isBad}
        />
        <Tile
          label="Cost, 7 days"
          href={placeWith(projectPath(projectId, 'usage'), of)}
          error={errors.usage}
          value={
            usage && (
              <span title={formatCost(usage.cost_usd)}>
                {formatCompactCost(usage.cost_usd, COMPACT_TILE_USD)}
              </span>
            )
          }
          note={usage && (usage.calls === 0 ? 'no model calls' : countText(usage.calls, 'model call'))}
        />
        <Tile
          label="Latest version"
          href={hrefWith({ tab: 'fleet' })}
          error={versions.error}
          value={latest && `v${latest}`}
          note={
            fleet &&
            (fleet.keys === 0
              ? 'no fetch known in 24 hours'
              : `${formatShare(fleet.keys_on_latest, fleet.keys)} of the keys in use`)
          }
        />
      </div>
      {failed?.error !== undefined && (
        <Notice error={failed.error} retry={failed.reload}>
          <b>Not all of these numbers could be loaded.</b>
        </Notice>
      )}
      {versions.error === undefined && <Saved versions={versions.data?.items} />}
    </section>
  );
}

function useHealth({ projectId, agentName, isReady }: HealthProps) {
  const agent = { agent: [agentName] };
  const query = { window: WINDOW, ...agent };
  const once = <T,>(asked: T) => (isReady ? asked : undefined);
  const refresh = { refreshMs: REFRESH_MS };
  const series = useAnswer(once(auditOf(projectId, 'timeseries', query)), refresh);
  const { previous, failed } = usePrevious(series.data, (range) =>
    auditOf(projectId, 'timeseries', { ...range, ...agent }),
  );
  const seen = useAnswer(
    once(auditOf(projectId, 'breakdown', { by: 'agent', ...query, window: '90d' })),
    refresh,
  );
  const usage = useAnswer(once(auditOf(projectId, 'llm-usage', query)), refresh);
  const fleet = useAnswer(
    once(call('GET /v1/projects/{id}/agents/{name}/fleet', { id: projectId, name: agentName })),
    refresh,
  );
  return {
    series: series.data,
    counts: series.data && totalsOf(series.data),
    before: previous && totalsOf(previous.series),
    /** Null: not within the retention time. */
    last: seen.data && (seen.data.items[0]?.last ?? null),
    usage: usage.data?.totals,
    fleet: fleet.data,
    errors: { series: series.error, seen: seen.error, usage: usage.error },
    /** The first one that could not be loaded. */
    failed: [series, failed, seen, usage, fleet].find((answer) => answer?.error !== undefined),
  };
}

/** 0.4, 12, 1.2K */
function rateText(total: number): string {
  const rate = total / WINDOW_HOURS[WINDOW];
  if (rate > 0 && rate < 0.1) return 'less than 0.1';
  return rate === 0 || rate >= 10 ? formatCompact(Math.round(rate)) : rate.toFixed(1);
}

/** The changes: the versions that were saved in these days. */
function Saved({ versions }: { versions: VersionSummary[] | undefined }) {
  const sinceMs = serviceTime() - (WINDOW_HOURS[WINDOW] / 24) * DAY_MS;
  const saved = (versions ?? []).filter(({ created_at }) => Date.parse(created_at) >= sinceMs);
  return (
    <p class="muted">
      {versions === undefined && '…'}
      {versions !== undefined &&
        (saved.length === 0 ? `No version was saved in the last ${WINDOW_WORDS[WINDOW]}.` : 'Saved: ')}
      {saved.slice(0, VERSIONS_MAX).map(({ version, created_at, created_by }, index) => (
        <span key={version}>
          {index > 0 && ' · '}
          <a href={hrefWith({ tab: 'versions', to: `${version}`, from: undefined, line: undefined })}>
            v{version}
          </a>{' '}
          {formatDate(created_at)} {zoneName(created_at)} by <Inert text={created_by} />
        </span>
      ))}
      {saved.length > VERSIONS_MAX && ` and ${formatCount(saved.length - VERSIONS_MAX)} more`}
    </p>
  );
}
