import type { Completeness } from '../../api/types.ts';
import type { Period } from '../../app/period.ts';
import { placeWith, projectPath } from '../../app/route.ts';
import { countText, formatCount } from '../../text/format.ts';

type PanelProps = { projectId: string; period: Period; completeness: Completeness };

/** The share of emitted events that arrived, in a sentence. */
export function CompletenessPanel({ projectId, period, completeness }: PanelProps) {
  return (
    <section class="panel" aria-label="Completeness">
      <h2>
        Completeness <a href={placeWith(projectPath(projectId, 'completeness'), { ...period })}>Gaps</a>
      </h2>
      <p>{sentenceOf(completeness)}</p>
    </section>
  );
}

/** `99.98% received: 137 dropped by clients, 4 missing, 1 sender ended without closing`. */
function sentenceOf({ percent, dropped, missing, unclosed }: Completeness): string {
  const parts = [
    dropped > 0 ? `${formatCount(dropped)} dropped by clients` : '',
    missing > 0 ? `${formatCount(missing)} missing` : '',
    unclosed > 0 ? `${countText(unclosed, 'sender')} ended without closing` : '',
  ].filter((part) => part !== '');
  const share = percent === null ? 'No events in this period' : `${percent}% received`;
  return parts.length === 0 ? share : `${share}: ${parts.join(', ')}`;
}
