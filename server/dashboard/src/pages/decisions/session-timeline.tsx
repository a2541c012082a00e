import { useMemo, useRef } from 'preact/hooks';
import { auditOf } from '../../api/call.ts';
import type { DecisionRecord, ModelCall } from '../../api/types.ts';
import { hrefWith } from '../../app/location.ts';
import { periodWords } from '../../app/period.ts';
import { decisionPath } from '../../app/route.ts';
import {
  countText,
  formatCompact,
  formatCost,
  formatCount,
  formatDuration,
  formatTime,
} from '../../text/format.ts';
import { FormError } from '../../ui/form-error.tsx';
import { Inert } from '../../ui/inert.tsx';
import { OutcomeBadge } from '../../ui/outcome.tsx';
import { EmptyState, ErrorState, Loading } from '../../ui/states.tsx';
import { useList } from '../../ui/use-list.tsx';
import { compared } from '../../ui/use-sorted.ts';
import { useVirtualRows } from '../../ui/virtual-rows.ts';
import type { SessionProps } from './session-panel.tsx';

/** The largest page of the API. */
const PAGE_ROWS = 500;

type Step = { kind: 'call'; record: ModelCall } | { kind: 'decision'; record: DecisionRecord };

/** The decisions and the model calls of a session, the oldest first. */
export function SessionTimeline({ projectId, sessionId, period }: SessionProps) {
  const query = { ...period, session_id: [sessionId], limit: PAGE_ROWS };
  const decisions = useList((cursor) => auditOf(projectId, 'decisions', { ...query, cursor }));
  const calls = useList((cursor) => auditOf(projectId, 'llm-invocations', { ...query, cursor }));
  const { steps, next } = useMemo(
    () =>
      merged([
        {
          steps: decisions.items.map((record): Step => ({ kind: 'decision', record })),
          next: decisions.next,
        },
        { steps: calls.items.map((record): Step => ({ kind: 'call', record })), next: calls.next },
      ]),
    [decisions.items, calls.items, decisions.next?.isLoading, calls.next?.isLoading],
  );
  for (const { first } of [decisions, calls])
    if (first.error !== undefined) return <ErrorState error={first.error} retry={first.reload} />;
  if (decisions.first.data === undefined || calls.first.data === undefined) return <Loading lines={12} />;
  if (steps.length === 0)
    return <EmptyState title={`No decisions and no model calls in ${periodWords(period)}`} />;
  const total = decisions.first.data.total + calls.first.data.total;
  return (
    <div class="panel timeline-panel">
      {next !== undefined && (
        <div class="timeline-more">
          <span class="muted">
            The newest {formatCount(steps.length)} of {countText(total, 'step')}.
          </span>
          <button type="button" aria-busy={next.isLoading} onClick={() => void next.load()}>
            Load earlier
          </button>
          <FormError error={next.error} />
        </div>
      )}
      <Steps steps={steps} isWhole={next === undefined} />
    </div>
  );
}

type Loaded = { steps: Step[]; next: ReturnType<typeof useList>['next'] };

/**
 * All steps in order, as far as both lists are loaded: before the oldest loaded step of an unfinished list, other steps may be missing.
 * That list is loaded next.
 */
function merged(lists: Loaded[]): { steps: Step[]; next: Loaded['next'] } {
  const all = lists.flatMap(({ steps }) => steps).sort(compareSteps);
  const partial = lists
    .flatMap(({ steps, next }) => {
      const oldest = steps.at(-1);
      return next === undefined || oldest === undefined ? [] : [{ oldest, next }];
    })
    .sort((a, b) => compareSteps(b.oldest, a.oldest));
  const [latest] = partial;
  if (latest === undefined) return { steps: all, next: undefined };
  return { steps: all.slice(all.indexOf(latest.oldest)), next: latest.next };
}

/** If the times are equal, a model call comes first, because it led to the decision. */
function compareSteps(a: Step, b: Step): number {
  return compared(a.record.occurred_at, b.record.occurred_at) || compared(keyOf(a), keyOf(b));
}

/** A decision and a model call may have the same id. */
function keyOf({ kind, record }: Step): string {
  return `${kind} ${record.event_id}`;
}

/** Renders only the steps in view. `isWhole`: nothing comes before the first. */
function Steps({ steps, isWhole }: { steps: Step[]; isWhole: boolean }) {
  const place = useRef<HTMLDivElement>(null);
  const { first, last, rowHeight, onScroll } = useVirtualRows(place, steps, { keyOf, keepsStart: true });
  return (
    <div ref={place} class="timeline-steps" role="region" aria-label="Steps" tabIndex={0} onScroll={onScroll}>
      <ol
        class="timeline"
        aria-label="Timeline of the session"
        style={{ height: `${steps.length * rowHeight}px` }}
      >
        {steps.slice(first, last).map((step, offset) => {
          const index = first + offset;
          const before = steps[index - 1];
          return (
            <li
              key={keyOf(step)}
              aria-posinset={index + 1}
              aria-setsize={isWhole ? steps.length : -1}
              style={{ transform: `translateY(${index * rowHeight}px)` }}
            >
              <StepRow step={step} before={before} />
            </li>
          );
        })}
      </ol>
    </div>
  );
}

/** One step, and the time since the previous one. */
function StepRow({ step, before }: { step: Step; before: Step | undefined }) {
  const { occurred_at, agent_name } = step.record;
  const laterMs = before === undefined ? 0 : Date.parse(occurred_at) - Date.parse(before.record.occurred_at);
  const when = (
    <>
      <time dateTime={occurred_at}>{formatTime(occurred_at)}</time>
      <span class="timeline-later">{before !== undefined && `+${formatDuration(laterMs)}`}</span>
    </>
  );
  const agent = agent_name === before?.record.agent_name ? undefined : agent_name;
  if (step.kind === 'call')
    return (
      <div class="timeline-step">
        {when}
        <CallCells call={step.record} agent={agent} />
      </div>
    );
  const { project_id, event_id, outcome, tool_name, reason } = step.record;
  return (
    <a class="timeline-step" href={hrefWith({}, decisionPath(project_id, event_id))}>
      {when}
      <span>
        <OutcomeBadge outcome={outcome} />
      </span>
      <b>
        <Inert text={tool_name} />
      </b>
      <span class="timeline-words">
        <Agent name={agent} isFollowed={reason !== ''} />
        <Inert text={reason} />
      </span>
    </a>
  );
}

/** The agent, if it differs from that of the previous step. */
function Agent({ name, isFollowed }: { name: string | undefined; isFollowed: boolean }) {
  if (name === undefined) return null;
  return (
    <>
      <span class="timeline-agent">
        <Inert text={name} />
      </span>
      {isFollowed && ' · '}
    </>
  );
}

type CallCellsProps = { call: ModelCall; agent: string | undefined };

function CallCells({ call: { model, duration_ms, error_type, ...rest }, agent }: CallCellsProps) {
  const { input_tokens, output_tokens, cost_usd, finish_reason } = rest;
  const facts = [
    // 0 is recorded for a call whose duration was not sent.
    ...(duration_ms === 0 ? [] : [formatDuration(duration_ms)]),
    `${formatCompact(input_tokens)} in`,
    `${formatCompact(output_tokens)} out`,
    ...(cost_usd === null ? [] : [formatCost(cost_usd)]),
  ];
  return (
    <>
      <span>
        <span class={error_type === '' ? 'tag' : 'tag tag-bad'}>model call</span>
      </span>
      <b>
        <Inert text={model} />
      </b>
      <span class="timeline-words">
        <Agent name={agent} isFollowed />
        {facts.join(' · ')}
        {(error_type || finish_reason) !== '' && ' · '}
        <span class={error_type === '' ? '' : 'timeline-error'}>
          <Inert text={error_type || finish_reason} />
        </span>
      </span>
    </>
  );
}
