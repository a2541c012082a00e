import type { OutcomeCounts, Timeseries, WindowName } from '../../api/types.ts';

/** A period that covers this one and the one before. 90d has none: records are kept for 90 days. */
export const WIDER: Record<WindowName, WindowName | undefined> = {
  '24h': '7d',
  '7d': '30d',
  '30d': '90d',
  '90d': undefined,
};

const HOUR_MS = 3_600_000;

/**
 * The counts of the period before this one, from the buckets of a wider period. A bucket that crosses a boundary counts
 * in proportion, so the result is approximate.
 */
export function windowBefore(wider: Timeseries, hours: number): OutcomeCounts {
  const endMs = Date.parse(wider.to) - hours * HOUR_MS;
  const startMs = endMs - hours * HOUR_MS;
  const sum: OutcomeCounts = { total: 0, allow: 0, deny: 0, needs_approval: 0 };
  for (const { start, ...counts } of wider.buckets) {
    const fromMs = Date.parse(start);
    const toMs = fromMs + wider.bucket_seconds * 1000;
    const insideMs = Math.min(toMs, endMs) - Math.max(fromMs, startMs);
    if (insideMs <= 0) continue;
    const share = insideMs / (toMs - fromMs);
    sum.total += counts.total * share;
    sum.allow += counts.allow * share;
    sum.deny += counts.deny * share;
    sum.needs_approval += counts.needs_approval * share;
  }
  return sum;
}

export type Change = { text: string; direction: 'up' | 'down' | 'same' };

/** The relative change of a count, undefined when there was nothing before. */
export function countChange(now: number, before: number): Change | undefined {
  if (before < 0.5) return undefined;
  const percent = ((now - before) / before) * 100;
  return changeFrom(percent, Math.abs(percent) >= 1000 ? '>10×' : `${Math.abs(percent).toFixed(0)}%`);
}

/** The change of a share in percentage points. */
export function shareChange(now: OutcomeCounts, before: OutcomeCounts): Change | undefined {
  if (before.total < 0.5 || now.total === 0) return undefined;
  const points = (now.deny / now.total - before.deny / before.total) * 100;
  return changeFrom(points * 10, `${Math.abs(points).toFixed(1)} points`);
}

function changeFrom(amount: number, size: string): Change {
  if (Math.abs(amount) < 0.5) return { text: 'about the same', direction: 'same' };
  return amount > 0 ? { text: `${size} more`, direction: 'up' } : { text: `${size} less`, direction: 'down' };
}
