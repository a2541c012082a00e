const COUNT = new Intl.NumberFormat('en');
const COMPACT = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });
const DATE_TIME = new Intl.DateTimeFormat('en-GB', {
  timeZone: 'UTC',
  day: '2-digit',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
});
const DATE = new Intl.DateTimeFormat('en-GB', {
  timeZone: 'UTC',
  day: '2-digit',
  month: 'short',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
});

export function formatCount(count: number): string {
  return COUNT.format(count);
}

/** 1.2K, 3.4M */
export function formatCompact(count: number): string {
  return count < 10_000 ? COUNT.format(count) : COMPACT.format(count);
}

/** 0%, <0.1%, 2.4%, 100% */
export function formatShare(part: number, whole: number): string {
  if (whole === 0) return '–';
  const percent = (part / whole) * 100;
  if (percent === 0) return '0%';
  if (percent < 0.1) return '<0.1%';
  return `${percent >= 99.95 && part < whole ? '>99.9' : percent.toFixed(percent < 10 ? 1 : 0)}%`;
}

/** 03 Mar 14:05:09. Always UTC, so that a shared link shows everyone the same. */
export function formatTime(iso: string): string {
  const ms = Date.parse(iso);
  return Number.isNaN(ms) ? iso : DATE_TIME.format(ms).replace(',', '');
}

export function formatDate(iso: string): string {
  const ms = Date.parse(iso);
  return Number.isNaN(ms) ? iso : DATE.format(ms).replace(',', '');
}

const STEPS: [seconds: number, name: string][] = [
  [86_400, 'd'],
  [3600, 'h'],
  [60, 'min'],
];

/** now, 40 s ago, 5 min ago, 3 d ago */
export function formatAgo(iso: string, nowMs: number): string {
  const seconds = Math.round((nowMs - Date.parse(iso)) / 1000);
  if (Number.isNaN(seconds)) return iso;
  if (seconds < 5) return 'now';
  for (const [size, name] of STEPS) {
    if (seconds >= size) return `${Math.floor(seconds / size)} ${name} ago`;
  }
  return `${seconds} s ago`;
}

export function formatBytes(bytes: number): string {
  if (bytes < 1024) return `${COUNT.format(bytes)} B`;
  const kib = bytes / 1024;
  return kib < 1024 ? `${kib.toFixed(kib < 10 ? 1 : 0)} KiB` : `${(kib / 1024).toFixed(1)} MiB`;
}

export function formatCost(usd: number | null): string {
  if (usd === null) return '–';
  if (usd !== 0 && Math.abs(usd) < 0.01) return '<$0.01';
  return `$${usd.toLocaleString('en', { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`;
}

/** The label of the empty role, never sent to the service. */
export const NO_ROLE = '(none)';

export function roleLabel(role: string): string {
  return role === '' ? NO_ROLE : role;
}

export const OUTCOME_LABELS = { allow: 'Allow', deny: 'Deny', needs_approval: 'Needs approval' } as const;

/** A role in a sentence: "an editor". */
export function withArticle(role: string): string {
  return `${/^[aeo]/.test(role) ? 'an' : 'a'} ${role}`;
}
