import type { ComponentChildren } from 'preact';
import { PeriodPicker } from './period-picker.tsx';

type PageHeadProps = { title: ComponentChildren; hasPeriod?: boolean; children?: ComponentChildren };

export function PageHead({ title, hasPeriod = false, children }: PageHeadProps) {
  return (
    <div class="page-head">
      <h1>{title}</h1>
      <div class="page-head-actions">
        {children}
        {hasPeriod && <PeriodPicker />}
      </div>
    </div>
  );
}
