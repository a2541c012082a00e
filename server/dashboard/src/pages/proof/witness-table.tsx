import { countText, formatAgo, formatCount, formatTime, zoneName } from '../../text/format.ts';
import { Inert } from '../../ui/inert.tsx';
import { Table } from '../../ui/table.tsx';
import type { CheckedWitness } from './verify-log.ts';

/** The witnesses of the log, and the largest checkpoint that each signed. `size`: the entries of the log now. */
export function WitnessTable({ witnesses, size }: { witnesses: CheckedWitness[]; size: number }) {
  if (witnesses.length === 0) {
    return (
      <p>
        This service has no witnesses. Witnesses (<code>GATE_WITNESSES</code>) are independent parties that
        confirm that everyone sees the same log.
      </p>
    );
  }
  return (
    <Table
      label="Witnesses"
      columns={[
        'Witness',
        'Verified',
        `Last signed (${zoneName(...witnesses.map(({ signedAt }) => signedAt))})`,
        ['Entries', 'number'],
      ]}
    >
      {witnesses.map((witness) => (
        <tr key={witness.name}>
          <th scope="row">
            <Inert text={witness.name} />
          </th>
          <td>
            <Verdict witness={witness} size={size} />
          </td>
          <td class="cell-when">
            {witness.signedAt === undefined ? (
              '–'
            ) : (
              <>
                <time dateTime={witness.signedAt}>{formatTime(witness.signedAt)}</time>{' '}
                <span class="muted">{formatAgo(witness.signedAt)}</span>
              </>
            )}
          </td>
          <td class="number">{formatCount(witness.size)}</td>
        </tr>
      ))}
    </Table>
  );
}

function Verdict({ witness: { fault, size: signed }, size }: { witness: CheckedWitness; size: number }) {
  if (fault !== undefined) return <span class="tag tag-bad">{fault}</span>;
  if (signed === 0) return <span class="tag tag-warn">has signed nothing yet</span>;
  const behind = size - signed;
  if (behind <= 0) return <span class="tag tag-good">signed the current log</span>;
  return <span class="tag tag-good">holds; {countText(behind, 'entry', 'entries')} since</span>;
}
