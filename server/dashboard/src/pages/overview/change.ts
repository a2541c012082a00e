import type { OutcomeCounts } from '../../api/types.ts';
import { DAY_MS } from '../../../../durations.ts';

export const WEEK_MS = 7 * DAY_MS;

/** How many weeks cover this time. */
export function weeksOf(lengthMs: number): number {
  return Math.ceil(lengthMs / WEEK_MS);
}

export type Change = { text: string; direction: 'up' | 'down' | 'same' };

/** The words after a change: than the week before. */
export function thanWords(change: Change | undefined, words: string): string {
  if (change === undefined) return `none ${words}`;
  return `${change.direction === 'same' ? 'as' : 'than'} ${words}`;
}

/** The relative change of a count, undefined when there was nothing before. */
export function countChange(now: number, before: number): Change | undefined {
  if (before === 0) return undefined;
  const percent = ((now - before) / before) * 100;
  if (Math.abs(percent) >= 1000) return changeFrom(percent, '>10×');
  // 100% less would be none.
  const size = now > 0 && percent < -99 ? '>99' : Math.abs(percent).toFixed(0);
  return changeFrom(percent, `${size}%`);
}

/** The change of a share in percentage points. */
export function shareChange(now: OutcomeCounts, before: OutcomeCounts): Change | undefined {
  if (before.total === 0 || now.total === 0) return undefined;
  const points = (now.deny / now.total - before.deny / before.total) * 100;
  return changeFrom(points * 10, `${Math.abs(points).toFixed(1)} points`);
}

/** Whether denials have become so much more frequent that somebody should look. */
export function isAlarming(now: OutcomeCounts, before: OutcomeCounts): boolean {
  if (now.total < ALARM_DECISIONS_MIN || before.total < ALARM_DECISIONS_MIN) return false;
  const [rate, rateBefore] = [now.deny / now.total, before.deny / before.total];
  return rate > ALARM_FACTOR * rateBefore && rate - rateBefore > ALARM_SHARE_MIN;
}

const ALARM_DECISIONS_MIN = 50;
const ALARM_FACTOR = 1.5;
const ALARM_SHARE_MIN = 0.01;

function changeFrom(amount: number, size: string): Change {
  if (Math.abs(amount) < 0.5) return { text: 'about the same', direction: 'same' };
  return amount > 0 ? { text: `${size} more`, direction: 'up' } : { text: `${size} less`, direction: 'down' };
}
