import { auditOf } from '../../api/call.ts';
import type { Completeness, GapItem } from '../../api/types.ts';
import { useAnswer } from '../../api/use-answer.ts';
import { usePeriod } from '../../app/location.ts';
import { type Period, periodWords } from '../../app/period.ts';
import { placeWith, projectPath } from '../../app/route.ts';
import { countText, formatCount, formatTime, zoneName } from '../../text/format.ts';
import { Inert } from '../../ui/inert.tsx';
import { PageHead } from '../../ui/page-head.tsx';
import { EmptyState, Waiting } from '../../ui/states.tsx';
import { Table } from '../../ui/table.tsx';
import { useList } from '../../ui/use-list.tsx';
import { Tiles } from '../../ui/tiles.tsx';

const REFRESH_MS = 60_000;
const STREAMS: Record<string, string> = { decisions: 'Decisions', llm_invocations: 'Model calls' };
const COLUMNS = [
  'Agent',
  'Events',
  ['Numbers', 'number'],
  ['Dropped', 'number'],
  ['Missing', 'number'],
  'Sender',
] as const;

/** Compares the events that senders emitted with those that arrived: the counts, and every gap. */
export function CompletenessPage({ projectId }: { projectId: string }) {
  const period = usePeriod();
  const completeness = useAnswer(auditOf(projectId, 'completeness', { ...period }), {
    refreshMs: REFRESH_MS,
  });
  const { data } = completeness;
  return (
    <>
      <PageHead title="Completeness" hasPeriod />
      <Waiting answer={completeness} lines={8} />
      {data?.emitters === 0 && (
        <EmptyState title={`No sender has numbered its events in ${periodWords(period)}`}>
          <p>The Gatehouse client numbers the events of each process. What did not arrive appears here.</p>
        </EmptyState>
      )}
      {data !== undefined && data.emitters > 0 && (
        <>
          <CompletenessTiles completeness={data} />
          <Gaps key={JSON.stringify(period)} projectId={projectId} period={period} />
        </>
      )}
    </>
  );
}

function CompletenessTiles({ completeness }: { completeness: Completeness }) {
  const { percent, emitted, received, dropped, missing, unclosed, emitters } = completeness;
  const tiles = [
    [
      'Received',
      percent === null ? '–' : `${percent}%`,
      `${formatCount(received)} of ${countText(emitted, 'event')}`,
    ],
    ['Dropped', formatCount(dropped), 'counted by the senders'],
    ['Missing', formatCount(missing), 'never received'],
    ['Ended without closing', formatCount(unclosed), `of ${countText(emitters, 'sender')}`],
  ] as const;
  return <Tiles tiles={tiles} />;
}

function Gaps({ projectId, period }: { projectId: string; period: Period }) {
  const { first, items, more } = useList((cursor) =>
    auditOf(projectId, 'gaps', { ...period, limit: 100, cursor }),
  );
  const noticed = `Noticed (${zoneName(items[0]?.before, items.at(-1)?.before)})`;
  return (
    <section class="panel" aria-label="Gaps">
      <h2>Gaps</h2>
      <Waiting answer={first} />
      {first.data?.items.length === 0 && <p class="muted">None in this period.</p>}
      {items.length > 0 && (
        <Table label="Events that did not arrive" columns={[noticed, ...COLUMNS]}>
          {items.map((gap) => (
            <GapRow
              key={`${gap.emitter} ${gap.to_sequence}`}
              gap={gap}
              href={placeWith(projectPath(projectId, 'decisions'), { ...period, agent: gap.agent_name })}
            />
          ))}
        </Table>
      )}
      {more}
    </section>
  );
}

function GapRow({ gap, href }: { gap: GapItem; href: string }) {
  const { from_sequence, to_sequence } = gap;
  return (
    <tr>
      <td class="muted cell-when">
        <time dateTime={gap.before}>{formatTime(gap.before)}</time>
      </td>
      <th scope="row" class="cell-long">
        <a href={href}>
          <Inert text={gap.agent_name} />
        </a>
      </th>
      <td>{STREAMS[gap.stream] ?? gap.stream}</td>
      <td class="number">
        {formatCount(from_sequence)}
        {to_sequence !== from_sequence && `–${formatCount(to_sequence)}`}
      </td>
      <td class="number">{formatCount(gap.dropped)}</td>
      <td class="number">{formatCount(gap.missing)}</td>
      <td class="muted" title={gap.emitter}>
        {gap.emitter.slice(0, 8)}
      </td>
    </tr>
  );
}
