import { useEffect, useState } from 'preact/hooks';
import { ApiError } from '../../api/api-error.ts';
import { call } from '../../api/call.ts';
import { logText, logTile, trustedKey, type TrustedKey } from '../../api/log.ts';
import { request } from '../../api/request.ts';
import { nextTask } from '../../app/next-task.ts';
import { useRetry } from '../../api/use-answer.ts';
import { keepCheckpoints, seenCheckpoints } from './seen-checkpoints.ts';
import type { LogVerdict } from './verify-log.ts';

export type Log = { checkpoint: string; logKey: TrustedKey; verdict: LogVerdict };

/** The log of a project, verified in this browser, and what went wrong. */
export function useLog(projectId: string): {
  log: Log | undefined;
  error: ApiError | undefined;
  load: () => void;
} {
  const [log, setLog] = useState<Log>();
  const [error, setError] = useState<ApiError>();
  const load = () => {
    verified(projectId).then(
      (answer) => {
        setLog(answer);
        setError(undefined);
      },
      (fault: unknown) => {
        const detail = `The log cannot be verified: ${(fault as Error).message}`;
        setError(fault instanceof ApiError ? fault : new ApiError({ status: 0, code: 'unexpected', detail }));
      },
    );
  };
  useEffect(load, [projectId]);
  useRetry(error, load);
  return { log, error, load };
}

async function verified(projectId: string): Promise<Log> {
  const witnessesOf = call('GET /v1/projects/{id}/log/witnesses', { id: projectId });
  const [{ verifyLog }, logKey, { items: witnesses }] = await Promise.all([
    import('./verify-log.ts'),
    trustedKey(projectId),
    request(witnessesOf),
  ]);
  const seen = seenCheckpoints(logKey.text);
  // Last: a later checkpoint that a witness or another tab saw would look like another history.
  const checkpoint = await logText(projectId, 'checkpoint');
  await nextTask();
  const verdict = await verifyLog({
    current: { seen_at: new Date().toISOString(), checkpoint },
    logKey: logKey.text,
    seen,
    witnesses,
    fetchTile: (path) => logTile(projectId, path),
  });
  // After a rewrite, the earlier checkpoints are kept unchanged as evidence.
  const { checkpoints } = verdict;
  if (checkpoints.every(({ isInLog }) => isInLog))
    keepCheckpoints(
      logKey.text,
      checkpoints.map(({ seen_at, checkpoint: text }) => ({ seen_at, checkpoint: text })),
    );
  return { checkpoint, logKey, verdict };
}
