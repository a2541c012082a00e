import type { ComponentChildren } from 'preact';
import type { ApiError } from '../../api/api-error.ts';
import { Sparkline } from '../../charts/sparkline.tsx';
import type { Change } from './change.ts';

type TileProps = {
  label: string;
  href: string;
  value: ComponentChildren;
  /** Why there is no value. */
  error?: ApiError | undefined;
  change?: Change | undefined;
  /** What the change is compared with. */
  than?: string | undefined;
  note?: ComponentChildren;
  spark?: number[];
  /** Shown in the alarm colour. */
  isBad?: boolean;
};

/** A labelled number that links to its records. */
export function Tile({ label, href, value, error, change, than, note, spark, isBad = false }: TileProps) {
  return (
    <a class="tile" href={href}>
      <span class="tile-label">{label}</span>
      <span class="tile-value">{value ?? <span class="muted">{error === undefined ? '…' : '–'}</span>}</span>
      {spark !== undefined && <Sparkline values={spark} tone={isBad ? 'deny' : 'plain'} />}
      <span class="tile-note">
        <ChangeText change={change} isBad={isBad} /> {than}
        {change !== undefined && than === undefined && note !== undefined && '· '}
        {note}
      </span>
    </a>
  );
}

/** ▲ 12% more */
export function ChangeText({ change, isBad = false }: Pick<TileProps, 'change' | 'isBad'>) {
  if (change === undefined) return null;
  return (
    <b class={isBad ? 'change change-bad' : 'change'}>
      {{ up: '▲ ', down: '▼ ', same: '' }[change.direction]}
      {change.text}
    </b>
  );
}
