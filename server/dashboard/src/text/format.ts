import { serviceTime } from '../api/service-clock.ts';
import { MINUTE_MS } from '../../../durations.ts';

const COUNT = new Intl.NumberFormat('en');
const COMPACT = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });
const MINUTE = {
  day: '2-digit',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
} as const;
const DAY = { day: '2-digit', month: 'short' } as const;
const STYLES = {
  time: { ...MINUTE, second: '2-digit' },
  minute: MINUTE,
  date: { ...MINUTE, year: 'numeric' },
  weekdayMinute: { ...MINUTE, weekday: 'short' },
  weekday: { ...DAY, weekday: 'short' },
  day: DAY,
  year: { year: 'numeric' },
  clock: { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' },
} as const;
type Style = keyof typeof STYLES;

/** Times are shown in UTC, or in the zone of the browser. Links and answers are always in UTC. */
export type Zone = 'UTC' | 'local';
let zone: Zone = 'UTC';
let formats = formatsIn(zone);
let formatsWithYear = formatsIn(zone, 'numeric');

function formatsIn(shown: Zone, year?: 'numeric'): Record<Style, Intl.DateTimeFormat> {
  const timeZone = shown === 'UTC' ? 'UTC' : undefined;
  const made = Object.entries(STYLES).map(([style, options]) => [
    style,
    new Intl.DateTimeFormat('en-GB', { year, ...options, timeZone }),
  ]);
  return Object.fromEntries(made) as Record<Style, Intl.DateTimeFormat>;
}

export function shownZone(): Zone {
  return zone;
}

export function showZone(next: Zone): void {
  zone = next;
  formats = formatsIn(next);
  formatsWithYear = formatsIn(next, 'numeric');
}

/** The zone of these times, or of now: UTC, GMT+1, or GMT+1/GMT+2 if the clocks change between them. */
export function zoneName(...times: (string | null | undefined)[]): string {
  if (zone === 'UTC') return 'UTC';
  const given = times.map((iso) => Date.parse(iso ?? '')).filter((ms) => !Number.isNaN(ms));
  const shown = given.length === 0 ? [Date.now()] : given;
  const byOffset = new Map(shown.map((ms) => [new Date(ms).getTimezoneOffset(), ms]));
  return [...byOffset.values()].map(zoneNameAt).join('/');
}

function zoneNameAt(ms: number): string {
  const parts = new Intl.DateTimeFormat('en-GB', { timeZoneName: 'short' }).formatToParts(ms);
  return parts.find(({ type }) => type === 'timeZoneName')?.value ?? 'local';
}

/** The time of the shown clock in milliseconds, as if that clock were in UTC. */
export function clockMs(ms: number): number {
  return zone === 'UTC' ? ms : ms - new Date(ms).getTimezoneOffset() * MINUTE_MS;
}

export function formatMs(ms: number, style: Style, hasYear = false): string {
  return (hasYear ? formatsWithYear : formats)[style].format(ms).replaceAll(',', '');
}

/** Whether the shown date needs its year. */
export function isOfOtherYear(iso: string, nowMs: number): boolean {
  return formatMs(Date.parse(iso), 'year') !== formatMs(nowMs, 'year');
}

function formatIso(iso: string, style: Style, hasYear = false): string {
  const ms = Date.parse(iso);
  return Number.isNaN(ms) ? iso : formatMs(ms, style, hasYear);
}

export function formatCount(count: number): string {
  return COUNT.format(count);
}

/** `1 sender`, `1,234 senders`. */
export function countText(count: number, unit: string, units = `${unit}s`): string {
  return `${formatCount(count)} ${count === 1 ? unit : units}`;
}

/** 1.2K, 3.4M */
export function formatCompact(count: number): string {
  return count < 10_000 ? COUNT.format(count) : COMPACT.format(count);
}

/** 0%, <0.1%, 2.4%, 57%, 99.7%, 100% */
export function formatShare(part: number, whole: number): string {
  if (whole === 0) return '–';
  const percent = (part / whole) * 100;
  if (percent === 0) return '0%';
  if (percent < 0.1) return '<0.1%';
  return `${percent >= 99.95 && part < whole ? '>99.9' : percent.toFixed(percent < 10 || (percent >= 99 && part < whole) ? 1 : 0)}%`;
}

/** 03 Mar 14:05:09 */
export function formatTime(iso: string): string {
  return formatIso(iso, 'time');
}

/** 03 Mar 14:05 */
export function formatMinute(iso: string, hasYear = false): string {
  return formatIso(iso, 'minute', hasYear);
}

/** 03 Mar 2026 14:05 */
export function formatDate(iso: string): string {
  return formatIso(iso, 'date');
}

const STEPS: [seconds: number, name: string][] = [
  [86_400, 'd'],
  [3600, 'h'],
  [60, 'min'],
];

/** now, 40 s ago, 5 min ago, 3 d ago */
export function formatAgo(iso: string, nowMs = serviceTime()): string {
  const seconds = Math.round((nowMs - Date.parse(iso)) / 1000);
  if (Number.isNaN(seconds)) return iso;
  if (seconds < 5) return 'now';
  for (const [size, name] of STEPS) {
    if (seconds >= size) return `${Math.floor(seconds / size)} ${name} ago`;
  }
  return `${seconds} s ago`;
}

/** 350 ms, 40 s, 5 min, 3 h */
export function formatDuration(ms: number): string {
  if (ms < 1000) return `${ms} ms`;
  const seconds = ms / 1000;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  const [size, name] = STEPS.find(([step]) => seconds >= step) ?? [1, 's'];
  return `${Math.floor(seconds / size)} ${name}`;
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

/** A larger cost does not fit into a tile on a phone. */
export const COMPACT_TILE_USD = 1_000_000;

/** $999.99, $12.3K, $4.5M: compact from `fromUsd` on. */
export function formatCompactCost(usd: number, fromUsd = 1000): string {
  return usd < fromUsd ? formatCost(usd) : `$${COMPACT.format(usd)}`;
}

export const OUTCOME_LABELS = { allow: 'Allow', deny: 'Deny', needs_approval: 'Needs approval' } as const;

export function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** A role in a sentence: "an editor". */
export function withArticle(role: string): string {
  return `${/^[aeo]/.test(role) ? 'an' : 'a'} ${role}`;
}
