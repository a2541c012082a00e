import type { ComponentChildren } from 'preact';
import { BrandMark } from '../../app/shell.tsx';

/** The frame of the pages outside a project. */
export function CenteredPage({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <div class="centered-page">
      <div class="centered-card">
        <BrandMark />
        <h1>{title}</h1>
        {children}
      </div>
    </div>
  );
}
