import { useState } from 'preact/hooks';

import { call } from '../../api/call.ts';
import { request } from '../../api/request.ts';
import type { ReplayResult, WindowName } from '../../api/types.ts';
import { decisionPath, placeWith, projectPath } from '../../app/route.ts';
import { formatCount } from '../../text/format.ts';
import { FormError } from '../../ui/form-error.tsx';
import { Inert, Role } from '../../ui/inert.tsx';
import { OutcomeBadge } from '../../ui/outcome.tsx';
import { WINDOW_WORDS, WINDOWS } from '../../app/period.ts';
import { Table } from '../../ui/table.tsx';
import { useAction } from '../../ui/use-action.ts';
import type { DraftProps } from './dry-run.tsx';

const ROWS_MAX = 10_000;

/** What the draft would change in the recorded decisions. */
export function Replay(props: DraftProps) {
  const { projectId, agentName, policyYaml, isValid } = props;
  const [window, setWindow] = useState<WindowName>('7d');
  const [replayed, setReplayed] = useState<{ policyYaml: string; result: ReplayResult | undefined }>();
  const { run, isRunning, error } = useAction(async () => {
    const result = await replayDraft({ projectId, agentName, policyYaml, window });
    setReplayed({ policyYaml, result });
  });
  const isCurrent = replayed?.policyYaml === policyYaml && replayed.result?.window === window;
  const result = isCurrent ? replayed.result : undefined;
  return (
    <section class="panel" aria-labelledby="replay">
      <h2 id="replay">Replay</h2>
      <p class="muted">Re-run recorded calls against this draft.</p>
      <div class="replay-row">
        <label>
          <span class="visually-hidden">Period</span>
          <select
            value={window}
            onChange={({ currentTarget }) =>
              setWindow(WINDOWS.find((name) => name === currentTarget.value) ?? '7d')
            }
          >
            {WINDOWS.map((name) => (
              <option key={name} value={name}>
                {WINDOW_WORDS[name]}
              </option>
            ))}
          </select>
        </label>
        <button type="button" aria-busy={isRunning} disabled={!isValid} onClick={() => void run()}>
          {isRunning ? 'Replaying…' : 'Replay'}
        </button>
      </div>
      <FormError error={error} />
      {result !== undefined && <ReplayReport result={result} projectId={projectId} agentName={agentName} />}
    </section>
  );
}

type ReplayOptions = { projectId: string; agentName: string; policyYaml: string; window: WindowName };

export async function replayDraft({ projectId, agentName, policyYaml, window }: ReplayOptions) {
  const result = await request(
    call('POST /v1/projects/{id}/agents/{name}/check', { params: { id: projectId, name: agentName } }),
    {
      body: { policy_yaml: policyYaml, replay: { window, limit: ROWS_MAX } },
    },
  );
  return result.replay;
}

type ReplayReportProps = { result: ReplayResult; projectId: string; agentName: string };

export function ReplayReport({ result, projectId, agentName }: ReplayReportProps) {
  const { window, examined, replayed, not_replayable, changed, changes } = result;
  const sampleOf = (eventId: string | undefined) =>
    eventId === undefined ? projectPath(projectId, 'decisions') : decisionPath(projectId, eventId);
  return (
    <div class="replay-report" role="status">
      <p>
        <b>{changed === 0 ? 'None' : formatCount(changed)}</b> of {formatCount(replayed)} replayed decisions
        would change.{' '}
        {not_replayable > 0 && (
          <span class="muted">
            {formatCount(not_replayable)} of {formatCount(examined)} cannot be replayed because their
            arguments were truncated or redacted.
          </span>
        )}
      </p>
      {changes.length > 0 && (
        <Table label="What would change" columns={['Call', 'Change', ['Calls', 'number']]}>
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
                    window,
                    agent: agentName,
                    tool,
                    role,
                    outcome: from,
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
      )}
    </div>
  );
}
