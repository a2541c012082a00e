import { useEffect, useState } from 'preact/hooks';
import { checkOf } from '../../api/call.ts';
import { ApiError } from '../../api/api-error.ts';
import { request } from '../../api/request.ts';
import type { CheckResult } from '../../api/types.ts';
import { useRetry } from '../../api/use-answer.ts';

const WAIT_MS = 250;

export type CheckState = {
  isChecking: boolean;
  result: CheckResult | undefined;
  error: ApiError | undefined;
  retry: () => void;
};

/** `of`: the text that was checked; undefined during a check. */
type Checked = Pick<CheckState, 'result' | 'error'> & { of: string | undefined };

/** Checks a policy with the service shortly after the last keystroke. */
export function useCheck(
  agent: { projectId: string; agentName: string },
  text: string,
  isOn: boolean,
): CheckState {
  const [state, setState] = useState<Checked>({ of: undefined, result: undefined, error: undefined });
  const [round, setRound] = useState(0);
  const retry = () => setRound(round + 1);
  useRetry(state.error, retry);
  const { projectId, agentName } = agent;
  useEffect(() => {
    if (!isOn) return undefined;
    const abort = new AbortController();
    setState((current) => ({ ...current, of: undefined }));
    const timer = setTimeout(() => {
      request(checkOf(projectId, agentName), { body: { policy_yaml: text }, signal: abort.signal }).then(
        (result) => setState({ of: text, result, error: undefined }),
        (error: unknown) => {
          if (error instanceof ApiError) setState({ of: text, result: undefined, error });
        },
      );
    }, WAIT_MS);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [projectId, agentName, text, isOn, round]);
  return { isChecking: state.of !== text, result: state.result, error: state.error, retry };
}
