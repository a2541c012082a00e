import { recall, remember } from '../../app/remembered.ts';

/** A checkpoint that this browser saw, and when it saw it first. */
export type SeenCheckpoint = { seen_at: string; checkpoint: string };

const SEEN_MAX = 40;

/** The checkpoints that this browser saw of the log with this key, the oldest first. */
export function seenCheckpoints(logKey: string): SeenCheckpoint[] {
  try {
    const seen: unknown = JSON.parse(recall(`checkpoints.${logKey}`) ?? '[]');
    return Array.isArray(seen) ? seen.filter(isSeen) : [];
  } catch {
    return [];
  }
}

/** Keeps a limited number: the first, the newest, and others spread over the time in between. */
export function keepCheckpoints(logKey: string, seen: SeenCheckpoint[]): void {
  const known = new Set(seen.map(({ checkpoint }) => checkpoint));
  // Another tab may have kept some in the meantime.
  const others = seenCheckpoints(logKey).filter(({ checkpoint }) => !known.has(checkpoint));
  const kept = [...seen, ...others].sort((one, other) => Date.parse(one.seen_at) - Date.parse(other.seen_at));
  while (kept.length > SEEN_MAX) kept.splice(leastSpread(kept), 1);
  remember(`checkpoints.${logKey}`, JSON.stringify(kept));
}

/** The one whose neighbours are closest to each other in time. */
function leastSpread(seen: SeenCheckpoint[]): number {
  const atMs = (index: number) => Date.parse(seen[index]?.seen_at ?? '');
  let least = 1;
  for (let index = 2; index < seen.length - 1; index += 1)
    if (atMs(index + 1) - atMs(index - 1) < atMs(least + 1) - atMs(least - 1)) least = index;
  return least;
}

function isSeen(value: unknown): value is SeenCheckpoint {
  const { seen_at, checkpoint } = (value ?? {}) as Partial<Record<string, unknown>>;
  return typeof seen_at === 'string' && typeof checkpoint === 'string';
}
