import type { Outcome } from '../api/types.ts';
import { OUTCOME_LABELS } from '../text/format.ts';
import { Icon } from './icon.tsx';

/** An outcome by shape, word and colour: never by colour alone. */
export function OutcomeBadge({ outcome }: { outcome: Outcome }) {
  return (
    <span class={`outcome outcome-${outcome}`}>
      <Icon name={outcome} />
      {OUTCOME_LABELS[outcome]}
    </span>
  );
}
