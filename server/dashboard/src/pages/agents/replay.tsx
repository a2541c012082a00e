import { useState } from 'preact/hooks';
import { checkOf } from '../../api/call.ts';
import { request } from '../../api/request.ts';
import type { ReplayResult, WindowName } from '../../api/types.ts';
import { WINDOW_WORDS, WINDOWS } from '../../app/period.ts';
import { FormError } from '../../ui/form-error.tsx';
import { useAction, useSignal } from '../../ui/use-action.ts';
import type { DraftProps } from './dry-run.tsx';
import { withOlder } from './replay-pages.ts';
import { ReplayReport } from './replay-report.tsx';

const ROWS_MAX = 10_000;

/** The effect of the draft on the recorded calls. */
export function Replay(props: DraftProps) {
  const { policyYaml, isValid } = props;
  const [window, setWindow] = useState<WindowName>('7d');
  const { result, run, more, isRunning, error } = useReplay({ ...props, window });
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
        <button type="button" aria-busy={isRunning} disabled={!isValid} onClick={run}>
          {isRunning ? 'Replaying…' : 'Replay'}
        </button>
      </div>
      <FormError error={error} />
      {result !== undefined && (
        <ReplayReport {...props} key={policyYaml} result={result} more={more} isRunning={isRunning} />
      )}
    </section>
  );
}

type Asked = { projectId: string; agentName: string; policyYaml: string; window: WindowName };

/** The replay of a draft. Its result is dropped when the draft or the window changes. */
export function useReplay({ projectId, agentName, policyYaml, window }: Asked) {
  const [replayed, setReplayed] = useState<{ policyYaml: string; result: ReplayResult }>();
  const isCurrent = replayed?.policyYaml === policyYaml && replayed.result.window === window;
  const result = isCurrent ? replayed.result : undefined;
  const signal = useSignal(`${window} ${policyYaml}`);
  const { run, isRunning, error } = useAction(async (newer?: ReplayResult) => {
    const cursor = newer?.next_cursor ?? undefined;
    const asked = { window, limit: ROWS_MAX, ...(cursor === undefined ? {} : { cursor }) };
    const body = { policy_yaml: policyYaml, replay: asked };
    const { replay } = await request(checkOf(projectId, agentName), { body, signal });
    if (replay === undefined) return;
    setReplayed({ policyYaml, result: newer === undefined ? replay : withOlder(newer, replay) });
  });
  return { result, isRunning, error, run: () => void run(), more: () => void run(result) };
}
