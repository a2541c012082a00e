import type { ComponentChildren } from 'preact';
import { formatCount } from '../text/format.ts';
import { PeriodPicker } from './period-picker.tsx';

type PageHeadProps = {
  title: ComponentChildren;
  /** How many items the page is about. */
  total?: number | undefined;
  hasPeriod?: boolean;
  children?: ComponentChildren;
};

export function PageHead({ title, total, hasPeriod = false, children }: PageHeadProps) {
  return (
    <div class="page-head">
      <h1>
        {title}{' '}
        {total !== undefined && (
          <span class="count" data-testid="total">
            {formatCount(total)}
          </span>
        )}
      </h1>
      <div class="page-head-actions">
        {children}
        {hasPeriod && <PeriodPicker />}
      </div>
    </div>
  );
}
