import type { ComponentChildren } from 'preact';
import type { WindowName } from '../api/types.ts';
import { hrefWith, usePlace } from '../app/location.ts';

export const WINDOWS: readonly WindowName[] = ['24h', '7d', '30d', '90d'];
export const WINDOW_WORDS: Record<WindowName, string> = {
  '24h': '24 hours',
  '7d': '7 days',
  '30d': '30 days',
  '90d': '90 days',
};
export const WINDOW_HOURS: Record<WindowName, number> = { '24h': 24, '7d': 168, '30d': 720, '90d': 2160 };

/** The period in the address bar, 24h by default. */
export function useWindow(): WindowName {
  const given = usePlace().query.get('window');
  return WINDOWS.find((name) => name === given) ?? '24h';
}

type PageHeadProps = { title: ComponentChildren; hasWindow?: boolean; children?: ComponentChildren };

export function PageHead({ title, hasWindow = false, children }: PageHeadProps) {
  return (
    <div class="page-head">
      <h1>{title}</h1>
      <div class="page-head-actions">
        {children}
        {hasWindow && <WindowPicker />}
      </div>
    </div>
  );
}

function WindowPicker() {
  const current = useWindow();
  return (
    <nav class="segments" aria-label="Period">
      {WINDOWS.map((name) => (
        <a
          key={name}
          href={hrefWith({ window: name, event: undefined, at: undefined })}
          aria-current={name === current ? 'true' : undefined}
          title={`Last ${WINDOW_WORDS[name]}`}
        >
          {name}
        </a>
      ))}
    </nav>
  );
}
