import { CodeBlock } from '../../ui/code-block.tsx';
import { PageHead } from '../../ui/page-head.tsx';
import { ErrorState, Loading } from '../../ui/states.tsx';
import { countText } from '../../text/format.ts';
import { CheckpointTable } from './checkpoint-table.tsx';
import { type Log, useLog } from './use-log.ts';
import { WitnessTable } from './witness-table.tsx';

/** The page for an auditor: the checkpoints over time, the key, the witnesses, and how to verify and mirror the log. */
export function ProofPage({ projectId }: { projectId: string }) {
  const { log, error, load } = useLog(projectId);
  return (
    <>
      <PageHead title="Proof" />
      {error !== undefined && <ErrorState error={error} retry={load} />}
      {log === undefined && error === undefined && <Loading lines={8} />}
      {log !== undefined && <Details {...log} projectId={projectId} />}
    </>
  );
}

function Details({ checkpoint, logKey, verdict, projectId }: Log & { projectId: string }) {
  const size = Number(checkpoint.split('\n')[1]);
  const common = `--project ${projectId} --url ${location.origin}`;
  return (
    <>
      <section class="panel proof-panel">
        <h2>Checkpoints over time</h2>
        <p>
          The log of this project has <b>{countText(size, 'entry', 'entries')}</b>. This browser remembers the
          checkpoints that it saw here, and verifies on each visit that the log still begins with all of them.
        </p>
        <CheckpointTable checkpoints={verdict.checkpoints} />
      </section>
      <section class="panel proof-panel">
        <h2>Current checkpoint</h2>
        <p>
          Keep a copy where the operator of this service cannot change it: every later checkpoint must extend
          it.
        </p>
        <CodeBlock label="Current checkpoint" text={checkpoint} />
      </section>
      <section class="panel proof-panel">
        <h2>Key of the log</h2>
        {logKey.isChanged && (
          <p class="form-error" role="alert">
            The service now shows another key than the one below, which this browser saw first.
          </p>
        )}
        <p>
          Compare it with the key that the operator gave you through another channel, and give it to your
          witnesses.
        </p>
        <CodeBlock label="Key of the log" text={logKey.text} />
      </section>
      <section class="panel proof-panel">
        <h2>Witnesses</h2>
        <WitnessTable witnesses={verdict.witnesses} size={size} />
      </section>
      <section class="panel proof-panel">
        <h2>Verify it yourself</h2>
        <p>
          In a clone of Gatehouse, verify all records against the log. Where reads need a key, set
          GATE_API_KEY to one:
        </p>
        <CodeBlock
          label="Command to verify"
          text={`npm run gate -- audit verify ${common} --vkey '${logKey.text}'`}
        />
        <p>Mirror the log. Later runs fetch only what is new:</p>
        <CodeBlock label="Command to mirror" text={`npm run gate -- audit mirror ${common} --to log`} />
      </section>
    </>
  );
}
