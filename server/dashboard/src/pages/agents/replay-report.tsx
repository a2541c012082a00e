import { auditOf } from '../../api/call.ts';
import type { ReplayResult } from '../../api/types.ts';
import { useAnswer } from '../../api/use-answer.ts';
import { WINDOW_WORDS } from '../../app/period.ts';
import { decisionPath, placeWith, projectPath } from '../../app/route.ts';
import { countText, formatCount } from '../../text/format.ts';
import { Inert, Role } from '../../ui/inert.tsx';
import { OutcomeBadge } from '../../ui/outcome.tsx';
import { Table } from '../../ui/table.tsx';
import type { Changed } from './replay-pages.ts';

type Place = { projectId: string; agentName: string };
type ReplayReportProps = Place & {
  result: ReplayResult;
  /** Also replays older decisions. */
  more: () => void;
  isRunning: boolean;
};

/** How many calls were replayed, what differs from the saved policy, and separately what differs from the records. */
export function ReplayReport({ result, more, isRunning, ...place }: ReplayReportProps) {
  const { replayed, changed, current } = result;
  return (
    <div class="replay-report" role="status">
      <Coverage {...place} result={result} />
      {result.next_cursor !== null && (
        <button type="button" class="small" aria-busy={isRunning} onClick={more}>
          {isRunning ? 'Replaying…' : 'Replay older decisions, too'}
        </button>
      )}
      {replayed === 0 && <p>No call was replayed, so the effect is unknown.</p>}
      {replayed > 0 && current !== null && (
        <>
          <p>
            <b>{current.changed === 0 ? 'None' : formatCount(current.changed)}</b> of {formatCount(replayed)}{' '}
            calls would change, compared with the current policy, v{current.version}.
          </p>
          <Changes {...place} result={result} changed={current} label="What would change" />
        </>
      )}
      {replayed > 0 && (
        <details class="replay-recorded" open={current === null}>
          <summary>
            {formatCount(changed)} of {formatCount(replayed)} differ from what was recorded
          </summary>
          <p class="muted">Includes calls that an older version of the policy decided differently.</p>
          <Changes
            {...place}
            result={result}
            changed={result}
            label="What differs from the records"
            isRecorded
          />
        </details>
      )}
    </div>
  );
}

function Coverage({ projectId, agentName, result }: Place & { result: ReplayResult }) {
  const { window, examined, not_replayable, next_cursor } = result;
  const { data } = useAnswer(
    next_cursor === null ? undefined : auditOf(projectId, 'summary', { window, agent: agentName }),
  );
  const all = data === undefined ? 'more' : formatCount(Math.max(data.totals.total, examined));
  return (
    <p>
      {next_cursor === null
        ? `All ${countText(examined, 'decision')}`
        : `The newest ${formatCount(examined)} of ${all} decisions`}{' '}
      in {WINDOW_WORDS[window]}
      {not_replayable > 0 &&
        `; ${formatCount(not_replayable)} cannot be replayed, because their arguments were truncated or redacted`}
      .
    </p>
  );
}

type ChangesProps = Place & {
  result: ReplayResult;
  changed: Changed;
  label: string;
  /** The changes are relative to the recorded outcomes. */
  isRecorded?: boolean;
};

function Changes({ projectId, agentName, result, changed, label, isRecorded = false }: ChangesProps) {
  const { changes } = changed;
  if (changes.length === 0) return null;
  const sampleOf = (eventId: string | undefined) =>
    eventId === undefined ? projectPath(projectId, 'decisions') : decisionPath(projectId, eventId);
  return (
    <Table label={label} columns={['Call', 'Change', ['Calls', 'number']]}>
      {changes.map(({ tool, role, from, to, count, samples }) => (
        <tr key={JSON.stringify([tool, role, from, to])}>
          <th scope="row" class="replay-call">
            <Inert text={tool} />
            <span class="muted">
              {' '}
              as <Role role={role} />
            </span>
          </th>
          <td class="replay-change">
            <OutcomeBadge outcome={from} /> <span aria-hidden="true">→</span>
            <span class="visually-hidden">becomes</span> <OutcomeBadge outcome={to} />
          </td>
          <td class="number">
            <a
              href={placeWith(sampleOf(samples[0]), {
                window: result.window,
                agent: agentName,
                tool,
                role,
                outcome: isRecorded ? from : undefined,
              })}
              target="_blank"
              rel="noreferrer"
            >
              {formatCount(count)}
            </a>
          </td>
        </tr>
      ))}
    </Table>
  );
}
