import { useEffect, useState } from 'preact/hooks';
import { ApiError } from '../../api/api-error.ts';
import { logText, trustedKey, type TrustedKey, witnessesOf } from '../../api/log.ts';
import { useRetry } from '../../api/use-answer.ts';
import { CodeBlock } from '../../ui/code-block.tsx';
import { Inert } from '../../ui/inert.tsx';
import { PageHead } from '../../ui/page-head.tsx';
import { ErrorState, Loading } from '../../ui/states.tsx';

type Log = { checkpoint: string; logKey: TrustedKey };

/** What an auditor needs: the checkpoint, the key, the witnesses, and how to verify all records. */
export function ProofPage({ projectId }: { projectId: string }) {
  const [log, setLog] = useState<Log>();
  const [error, setError] = useState<ApiError>();
  const load = () => {
    Promise.all([logText(projectId, 'checkpoint'), trustedKey(projectId)]).then(
      ([checkpoint, logKey]) => {
        setLog({ checkpoint, logKey });
        setError(undefined);
      },
      (fault: unknown) => {
        if (fault instanceof ApiError) setError(fault);
      },
    );
  };
  useEffect(load, [projectId]);
  useRetry(error, load);
  return (
    <>
      <PageHead title="Proof" />
      {error !== undefined && <ErrorState error={error} retry={load} />}
      {log === undefined && error === undefined && <Loading lines={8} />}
      {log !== undefined && <Details {...log} projectId={projectId} />}
    </>
  );
}

function Details({ checkpoint, logKey, projectId }: Log & { projectId: string }) {
  const [, size = '0'] = checkpoint.split('\n');
  const witnesses = witnessesOf(checkpoint);
  const common = `--project ${projectId} --url ${location.origin}`;
  return (
    <>
      <section class="panel proof-panel">
        <h2>Checkpoint</h2>
        <p>
          The log of this project has <b>{Number(size).toLocaleString('en')}</b> entries. Keep a checkpoint
          where the operator of this service cannot write: every later one must extend it.
        </p>
        <CodeBlock label="Checkpoint" text={checkpoint} />
      </section>
      <section class="panel proof-panel">
        <h2>Key of the log</h2>
        {logKey.isChanged && (
          <p class="form-error" role="alert">
            The service shows another key now than the one below, which this browser saw first.
          </p>
        )}
        <p>
          Compare it with the one that the operator gave you on another way, and give it to your witnesses.
        </p>
        <CodeBlock label="Key of the log" text={logKey.text} />
      </section>
      <section class="panel proof-panel">
        <h2>Witnesses</h2>
        {witnesses.length === 0 ? (
          <p>No witness has signed this checkpoint.</p>
        ) : (
          <ul>
            {witnesses.map((name) => (
              <li key={name}>
                <Inert text={name} />
              </li>
            ))}
          </ul>
        )}
      </section>
      <section class="panel proof-panel">
        <h2>Verify it yourself</h2>
        <p>All records, against the log:</p>
        <CodeBlock
          label="Command to verify"
          text={`npm run gate -- audit verify ${common} --vkey '${logKey.text}'`}
        />
        <p>A copy of the log, of which later runs fetch only what is new:</p>
        <CodeBlock label="Command to mirror" text={`npm run gate -- audit mirror ${common} --to log`} />
      </section>
    </>
  );
}
