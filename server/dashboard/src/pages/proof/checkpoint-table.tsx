import { formatCount, formatTime, zoneName } from '../../text/format.ts';
import { CodeBlock } from '../../ui/code-block.tsx';
import { Table } from '../../ui/table.tsx';
import type { CheckedCheckpoint } from './verify-log.ts';

const ROOT_CHARS = 12;

/** The checkpoints that this browser saw, the newest first, and whether the log still extends them. */
export function CheckpointTable({ checkpoints }: { checkpoints: CheckedCheckpoint[] }) {
  const lost = checkpoints.findLast(({ isInLog }) => !isInLog);
  return (
    <>
      {lost !== undefined && <Alarm lost={lost} current={checkpoints.at(-1)} />}
      <Table
        label="Checkpoints"
        columns={[
          `Seen (${zoneName(...checkpoints.map(({ seen_at }) => seen_at))})`,
          'Verified',
          ['Entries', 'number'],
          'Root',
        ]}
      >
        {checkpoints
          .map((checkpoint, index) => (
            <tr key={index}>
              <td class="cell-when">
                <time dateTime={checkpoint.seen_at}>{formatTime(checkpoint.seen_at)}</time>
              </td>
              <td>
                <Verdict checkpoint={checkpoint} before={checkpoints[index - 1]} />
              </td>
              <td class="number">{formatCount(checkpoint.size)}</td>
              <td class="mono" title={checkpoint.root}>
                {checkpoint.root.slice(0, ROOT_CHARS)}…
              </td>
            </tr>
          ))
          .toReversed()}
      </Table>
    </>
  );
}

type VerdictProps = { checkpoint: CheckedCheckpoint; before: CheckedCheckpoint | undefined };

function Verdict({ checkpoint, before }: VerdictProps) {
  if (!checkpoint.isInLog) return <span class="tag tag-bad">not part of the current log</span>;
  if (before === undefined) return <span class="tag">first one seen</span>;
  if (!before.isInLog) return <span class="tag tag-bad">does not extend the one before</span>;
  return <span class="tag tag-good">extends the one before</span>;
}

type AlarmProps = { lost: CheckedCheckpoint; current: CheckedCheckpoint | undefined };

/** Both checkpoints together, each signed by the log, are the evidence. */
function Alarm({ lost, current }: AlarmProps) {
  if (current === undefined || !current.isInLog) {
    return (
      <p class="form-error" role="alert">
        The current checkpoint is not signed with the key of the log below. Nothing can be verified.
      </p>
    );
  }
  return (
    <>
      <p class="form-error" role="alert">
        History was rewritten: the log does not extend the checkpoint that this browser saw on{' '}
        {formatTime(lost.seen_at)} {zoneName(lost.seen_at)}. Keep that checkpoint and the current one:
        together they are the evidence.
      </p>
      <CodeBlock label="Checkpoint that was seen before" text={lost.checkpoint} />
    </>
  );
}
