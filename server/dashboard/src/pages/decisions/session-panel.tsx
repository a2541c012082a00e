import { auditOf } from '../../api/call.ts';
import type { UsageCounts } from '../../api/types.ts';
import { useAnswer } from '../../api/use-answer.ts';
import { type Filters, NO_FILTERS } from '../../app/filters.ts';
import { hrefWith } from '../../app/location.ts';
import type { Period } from '../../app/period.ts';
import { projectPath } from '../../app/route.ts';
import {
  countText,
  formatCost,
  formatCount,
  formatDuration,
  formatTime,
  zoneName,
} from '../../text/format.ts';
import { Inert } from '../../ui/inert.tsx';
import { Notice } from '../../ui/notice.tsx';

export type SessionProps = { projectId: string; sessionId: string; period: Period };

/** The session of the filter, if there is exactly one. */
export function sessionOf(filters: Filters): string | undefined {
  const [sessionId, another] = filters.session_id ?? [];
  return another === undefined && sessionId !== '' ? sessionId : undefined;
}

type PanelProps = SessionProps & {
  isTimeline: boolean;
  /** The list has other filters as well, which these numbers and the timeline ignore. */
  isNarrowed: boolean;
};

/** A session in numbers, with the choice between list and timeline. */
export function SessionPanel({ projectId, sessionId, period, isTimeline, isNarrowed }: PanelProps) {
  const asked = { ...period, session_id: [sessionId] };
  const found = useAnswer(auditOf(projectId, 'breakdown', { by: 'session_id', ...asked }));
  const usage = useAnswer(auditOf(projectId, 'llm-usage', asked));
  const failed = [found, usage].find(({ error }) => error !== undefined);
  const [counts] = found.data?.items ?? [];
  const list = projectPath(projectId, 'decisions');
  return (
    <section class="panel session" aria-label="Session">
      <p>
        <b>
          <Inert text={sessionId} />
        </b>
        {isNarrowed && ' without the other filters'}
        {found.data !== undefined && counts === undefined && ': no decisions'}
        {counts !== undefined &&
          `: ${countText(counts.total, 'decision')}, ${formatCount(counts.deny)} denied, ${formatTime(counts.first)} to ${formatTime(counts.last)} ${zoneName(counts.first, counts.last)} (${formatDuration(Date.parse(counts.last) - Date.parse(counts.first))})`}
        {usage.data !== undefined && `; ${usageText(usage.data.totals)}`}
      </p>
      <nav class="segments" aria-label="View">
        <a href={hrefWith({ view: undefined }, list)} aria-current={isTimeline ? undefined : 'true'}>
          List
        </a>
        <a
          href={hrefWith({ ...NO_FILTERS, session_id: sessionId, view: 'timeline' }, list)}
          aria-current={isTimeline ? 'true' : undefined}
        >
          Timeline
        </a>
      </nav>
      {failed?.error !== undefined && (
        <Notice error={failed.error} retry={failed.reload}>
          <b>Not all numbers of the session could be loaded.</b>
        </Notice>
      )}
    </section>
  );
}

function usageText({ calls, input_tokens, output_tokens, cost_usd }: UsageCounts): string {
  if (calls === 0) return 'no model calls';
  const cost = cost_usd > 0 ? `, ${formatCost(cost_usd)}` : '';
  return `${countText(calls, 'model call')}, ${countText(input_tokens + output_tokens, 'token')}${cost}`;
}
