import type { Outcome } from '../api/types.ts';
import { OUTCOME_LABELS } from '../text/format.ts';
import { Icon } from './icon.tsx';
import { Inert } from './inert.tsx';

/** An outcome by icon, word and colour, never by colour alone. */
export function OutcomeBadge({ outcome }: { outcome: Outcome }) {
  return (
    <span class={`outcome outcome-${outcome}`}>
      <Icon name={outcome} />
      {OUTCOME_LABELS[outcome]}
    </span>
  );
}

export function Violations({ outcome, violations }: { outcome: Outcome; violations: string[] }) {
  return (
    <ul class={`violations violations-${outcome}`}>
      {violations.map((violation, index) => (
        <li key={index}>
          <Inert text={violation} as="block" />
        </li>
      ))}
    </ul>
  );
}
