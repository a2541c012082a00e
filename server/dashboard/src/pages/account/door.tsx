import type { ComponentChildren } from 'preact';
import { BrandMark } from '../../app/shell.tsx';

/** The frame of the pages outside a project. */
export function Door({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <div class="door">
      <div class="door-card">
        <BrandMark />
        <h1>{title}</h1>
        {children}
      </div>
    </div>
  );
}

export function submitted(event: Event, then: (values: Record<string, string>) => void): void {
  event.preventDefault();
  if (!(event.currentTarget instanceof HTMLFormElement)) return;
  const values: Record<string, string> = {};
  for (const [name, value] of new FormData(event.currentTarget)) {
    if (typeof value === 'string') values[name] = value;
  }
  then(values);
}
