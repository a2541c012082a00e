import type { PolicyFault } from '../../api/types.ts';
import { Inert } from '../../ui/inert.tsx';

type FaultListProps = {
  label: string;
  faults: PolicyFault[];
  onPick: (place: { line: number; column: number }) => void;
};

/** Every error, linked to its position in the text. */
export function FaultList({ label, faults, onPick }: FaultListProps) {
  if (faults.length === 0) return null;
  return (
    <ol class="fault-list" aria-label={label}>
      {faults.map(({ line = 1, column = 1, message }, index) => (
        <li key={index}>
          <button type="button" onClick={() => onPick({ line, column })}>
            <span class="mono">
              {line}:{column}
            </span>
            <Inert text={message} />
          </button>
        </li>
      ))}
    </ol>
  );
}
