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
