import type { Insert } from './gatherer.ts';

const ID_LENGTH = 36;
const GOLDEN_RATIO = 0x9e3779b9;

/** The share of each shard. The events that a row represents are spread like others; the row itself is stored where its first event is. */
export function spreadOver(
  shards: number,
  { rows, eventsPerRow }: { rows: string[]; eventsPerRow: number },
): Map<number, Insert> {
  const shares = new Map<number, Insert>();
  for (const row of rows) {
    const hash = hashOf(row);
    for (let event = 0; event < eventsPerRow; event += 1) {
      const shard = mix(hash + Math.imul(event, GOLDEN_RATIO)) % shards;
      let share = shares.get(shard);
      if (share === undefined) shares.set(shard, (share = { rows: [], events: 0 }));
      if (event === 0) share.rows.push(row);
      share.events += 1;
    }
  }
  return shares;
}

/** FNV-1a of the identity, with which a row begins. */
function hashOf(row: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < ID_LENGTH; at += 1) hash = Math.imul(hash ^ row.charCodeAt(at), 0x01000193);
  return hash;
}

/** The finalizer of MurmurHash3. */
function mix(value: number): number {
  let hash = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
