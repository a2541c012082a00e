import type { ReplayResult } from '../../api/types.ts';

export type Changed = Pick<ReplayResult, 'changed' | 'changes'>;

/** Combines the result of a replay with that of its next page. */
export function withOlder(newer: ReplayResult, older: ReplayResult): ReplayResult {
  return {
    window: newer.window,
    examined: newer.examined + older.examined,
    replayed: newer.replayed + older.replayed,
    not_replayable: newer.not_replayable + older.not_replayable,
    ...sumOf(newer, older),
    next_cursor: older.next_cursor,
    current: currentOf(newer.current, older.current),
  };
}

/** Null if another version was saved in between: the sums would be of two policies. */
function currentOf(newer: ReplayResult['current'], older: ReplayResult['current']): ReplayResult['current'] {
  if (newer === null || older === null || newer.version !== older.version) return null;
  return { version: newer.version, ...sumOf(newer, older) };
}

function sumOf(newer: Changed, older: Changed): Changed {
  const byKind = new Map<string, Changed['changes'][number]>();
  for (const change of [...newer.changes, ...older.changes]) {
    const key = JSON.stringify([change.tool, change.role, change.from, change.to]);
    const known = byKind.get(key);
    byKind.set(key, known === undefined ? change : { ...known, count: known.count + change.count });
  }
  const changes = [...byKind.values()].sort((one, other) => other.count - one.count);
  return { changed: newer.changed + older.changed, changes };
}
