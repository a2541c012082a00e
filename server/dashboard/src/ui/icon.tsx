const PATHS = {
  overview: 'M3 13h4V8H3zM8.5 13h4V3h-4z M1.5 13.5h13',
  decisions: 'M2.5 4h11M2.5 8h11M2.5 12h7',
  agents: 'M4 6.5h8v6H4zM8 6.5V4M6.5 9h.01M9.5 9h.01M8 3.2h.01M2.5 8.5v2M13.5 8.5v2',
  usage: 'M2.5 13V9.5M6.2 13V5.5M9.8 13V8M13.5 13V3',
  completeness: 'M2.5 4.2l1.2 1.2 2-2.4M8 4.2h5.5M2.5 8.2l1.2 1.2 2-2.4M8 8.2h5.5M3 12.2h2M8 12.2h5.5',
  proof: 'M8 1.8 13 3.6v4c0 3.2-2 5.4-5 6.6-3-1.2-5-3.4-5-6.6v-4zM5.6 7.9l1.8 1.8 3.2-3.6',
  alerts: 'M4 11V7a4 4 0 0 1 8 0v4l1.5 1.5h-11zM6.8 14h2.4',
  keys: 'M9.8 9.2a3.3 3.3 0 1 0-3-3L2.5 10.5v3h3v-2h2v-2z M10.9 5.1h.01',
  members:
    'M6 7.5a2.3 2.3 0 1 0 0-4.6 2.3 2.3 0 0 0 0 4.6zM2 13.2c0-2.2 1.8-3.8 4-3.8s4 1.6 4 3.8M10.6 7.3a2 2 0 1 0-.6-4M11.5 9.6c1.5.4 2.5 1.8 2.5 3.6',
  activity: 'M2 8.5h2.8L6.5 4l3 8.5 1.7-4H14',
  close: 'M4 4l8 8M12 4l-8 8',
  check: 'M3.5 8.5l3 3 6-7',
  allow: 'M3.5 8.5l3 3 6-7',
  deny: 'M4.5 4.5l7 7M11.5 4.5l-7 7',
  needs_approval: 'M8 4v4.5l2.8 1.7 M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12z',
  copy: 'M6 6h7.5v7.5H6zM3.5 10.5h-1v-8h8v1',
  download: 'M8 2.5v8M4.8 7.5 8 10.7l3.2-3.2M2.5 13.5h11',
  sun: 'M8 10.8a2.8 2.8 0 1 0 0-5.6 2.8 2.8 0 0 0 0 5.6zM8 1.8v1.4M8 12.8v1.4M1.8 8h1.4M12.8 8h1.4M3.6 3.6l1 1M11.4 11.4l1 1M12.4 3.6l-1 1M4.6 11.4l-1 1',
  moon: 'M13.5 9.6A5.8 5.8 0 0 1 6.4 2.5a5.8 5.8 0 1 0 7.1 7.1z',
  auto: 'M8 2.5a5.5 5.5 0 1 0 0 11zM8 2.5a5.5 5.5 0 0 1 0 11',
  account: 'M8 8a2.7 2.7 0 1 0 0-5.4A2.7 2.7 0 0 0 8 8zM3 13.8c0-2.6 2.2-4.4 5-4.4s5 1.8 5 4.4',
  warn: 'M8 2.5 14.5 13.5h-13zM8 6.5v3.2M8 11.6h.01',
  calendar: 'M2.5 4h11v9.5h-11zM2.5 7h11M5.5 2.3V5M10.5 2.3V5',
  exclude: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM3.8 3.8l8.4 8.4',
  filter: 'M2 3.5h12L9.5 8.8v4l-3 1.2V8.8z',
  external: 'M6 3.5H3v9.5h9.5V10M9 3h4v4M13 3 7.5 8.5',
  play: 'M5 3.2v9.6L12.5 8z',
  pause: 'M5.5 3.5v9M10.5 3.5v9',
  refresh: 'M13.2 6.5A5.5 5.5 0 1 0 13.5 8.6M13.5 3v3.6H9.9',
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} />
    </svg>
  );
}
