import { breakdownOf, call } from '../../api/call.ts';
import type { DecisionRecord, UsageCounts } from '../../api/types.ts';
import { useAnswer } from '../../api/use-answer.ts';
import type { Filters } from '../../app/filters.ts';
import { hrefWith } from '../../app/location.ts';
import { type Period, rangeOf } from '../../app/period.ts';
import { decisionPath, projectPath } from '../../app/route.ts';
import { formatCost, formatCount, formatDuration, formatTime } from '../../text/format.ts';
import { Inert } from '../../ui/inert.tsx';
import { OutcomeBadge } from '../../ui/outcome.tsx';
import { ErrorState, Loading } from '../../ui/states.tsx';

/** The largest page of decisions. */
const ROWS_MAX = 500;
const MINUTE_MS = 60_000;
/** Model calls so long before the first decision and after the last one are shown, too. */
const AROUND_MS = 10 * MINUTE_MS;

type SessionProps = { projectId: string; sessionId: string; period: Period };

/** The one session that is filtered for, if it is one. */
export function sessionOf(filters: Filters): string | undefined {
  const [sessionId, another] = filters.session_id ?? [];
  return another === undefined && sessionId !== '' ? sessionId : undefined;
}

/** What a session did, in numbers, with the choice between list and timeline. */
export function SessionPanel({
  projectId,
  sessionId,
  period,
  isTimeline,
}: SessionProps & { isTimeline: boolean }) {
  const asked = { ...period, session_id: [sessionId] };
  const found = useAnswer(breakdownOf(projectId, { by: 'session_id', ...asked }));
  const usage = useAnswer(
    call('GET /v1/projects/{id}/audit/llm-usage', { params: { id: projectId }, query: asked }),
  );
  const [counts] = found.data?.items ?? [];
  const list = projectPath(projectId, 'decisions');
  return (
    <section class="panel session" aria-label="Session">
      <p>
        <b>
          <Inert text={sessionId} />
        </b>
        {counts !== undefined &&
          `: ${countText(counts.total, 'decision')}, ${formatCount(counts.deny)} denied, ${formatTime(counts.first)} to ${formatTime(counts.last)} (${formatDuration(Date.parse(counts.last) - Date.parse(counts.first))})`}
        {usage.data !== undefined && `; ${usageText(usage.data.totals)}`}
      </p>
      <nav class="segments" aria-label="View">
        <a href={hrefWith({ view: undefined }, list)} aria-current={isTimeline ? undefined : 'true'}>
          List
        </a>
        <a href={hrefWith({ view: 'timeline' }, list)} aria-current={isTimeline ? 'true' : undefined}>
          Timeline
        </a>
      </nav>
    </section>
  );
}

/** The decisions of a session, the oldest first, with its model calls by the minute. */
export function SessionTimeline({ projectId, sessionId, period }: SessionProps) {
  const params = { id: projectId };
  const asked = { session_id: [sessionId] };
  const page = useAnswer(
    call('GET /v1/projects/{id}/audit/decisions', {
      params,
      query: { ...period, ...asked, limit: ROWS_MAX },
    }),
  );
  const records = page.data?.items.toReversed();
  const around = records && rangeAround(records);
  const usage = useAnswer(
    around &&
      call('GET /v1/projects/{id}/audit/llm-usage/timeseries', { params, query: { ...around, ...asked } }),
  );
  if (page.error !== undefined && page.data === undefined)
    return <ErrorState error={page.error} retry={page.reload} />;
  if (records === undefined) return <Loading lines={12} />;
  const calls = usage.data?.buckets.filter((bucket) => bucket.calls > 0) ?? [];
  const entries = [
    ...records.map((record, index) => ({
      atMs: Date.parse(record.occurred_at),
      record,
      before: records[index - 1],
      usage: undefined,
    })),
    ...calls.map((bucket) => ({ atMs: Date.parse(bucket.start), record: undefined, usage: bucket })),
  ].sort((a, b) => a.atMs - b.atMs);
  return (
    <div class="panel timeline-panel">
      {(page.data?.total ?? 0) > ROWS_MAX && (
        <p class="muted">The newest {formatCount(ROWS_MAX)} decisions of the session.</p>
      )}
      <ol class="timeline" aria-label="Timeline of the session">
        {entries.map((entry) => (
          <li key={entry.record?.event_id ?? entry.atMs}>
            {entry.record === undefined ? <Calls usage={entry.usage} /> : <Decision {...entry} />}
          </li>
        ))}
      </ol>
    </div>
  );
}

/** One decision, and how long after the one before it. */
function Decision({ record, before }: { record: DecisionRecord; before: DecisionRecord | undefined }) {
  const { project_id, event_id, occurred_at, outcome, tool_name, reason } = record;
  const laterMs = before === undefined ? 0 : Date.parse(occurred_at) - Date.parse(before.occurred_at);
  return (
    <a href={hrefWith({}, decisionPath(project_id, event_id))}>
      <time dateTime={occurred_at}>{formatTime(occurred_at)}</time>
      <span class="timeline-later">{before !== undefined && `+${formatDuration(laterMs)}`}</span>
      <OutcomeBadge outcome={outcome} />
      <b>
        <Inert text={tool_name} />
      </b>
      <span class="muted">
        <Inert text={reason} />
      </span>
    </a>
  );
}

function Calls({ usage }: { usage: UsageCounts & { start: string } }) {
  return (
    <div>
      <time dateTime={usage.start} title="In the minute that begins then">
        {formatTime(usage.start)}
      </time>
      <span class="tag">model</span>
      <span class="muted">{usageText(usage)}</span>
    </div>
  );
}

function usageText({ calls, input_tokens, output_tokens, cost_usd }: UsageCounts): string {
  if (calls === 0) return 'no model calls';
  const cost = cost_usd > 0 ? `, ${formatCost(cost_usd)}` : '';
  return `${countText(calls, 'model call')}, ${countText(input_tokens + output_tokens, 'token')}${cost}`;
}

function countText(count: number, unit: string): string {
  return `${formatCount(count)} ${unit}${count === 1 ? '' : 's'}`;
}

/** Of at most 200 minutes each minute has a bucket. */
function rangeAround(records: DecisionRecord[]): { from: string; to: string } | undefined {
  const [first, last] = [records.at(0), records.at(-1)];
  if (first === undefined || last === undefined) return undefined;
  return rangeOf(Date.parse(first.occurred_at) - AROUND_MS, Date.parse(last.occurred_at) + AROUND_MS);
}
