import { DAY_MS } from '../limits.ts';

/** Keys on agents that are kept, and versions of each of them; the ones seen longest ago go first. 30 MB in all. */
const HOLDERS_MAX = 20_000;
const ETAGS_PER_HOLDER_MAX = 5;

/** One key on one agent. Clients that share a key may hold several versions. */
type Holder = { agent: string; seenMsByEtag: Map<string, number> };
type HeldVersion = { etag: string; keys: number; last_seen: string };

/**
 * Which versions clients hold: a policy fetch with If-None-Match is a heartbeat. Kept in memory only, so that a fetch
 * writes nothing; it starts anew with the process.
 */
export class Fleet {
  readonly #holders = new Map<string, Holder>();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  seen(
    { projectId, agentName }: { projectId: string; agentName: string },
    { keyId, etag }: { keyId: string; etag: string },
  ): void {
    const agent = `${projectId}/${agentName}`;
    const id = `${keyId} ${agent}`;
    const holder = this.#holders.get(id) ?? { agent, seenMsByEtag: new Map<string, number>() };
    touch(this.#holders, { key: id, value: holder, sizeMax: HOLDERS_MAX });
    touch(holder.seenMsByEtag, { key: etag, value: this.#now(), sizeMax: ETAGS_PER_HOLDER_MAX });
  }

  /** The versions held, the one with the most keys first. */
  held(projectId: string, agentName: string): HeldVersion[] {
    const sinceMs = this.#now() - DAY_MS;
    const byEtag = new Map<string, { keys: number; seenMs: number }>();
    for (const { agent, seenMsByEtag } of this.#holders.values()) {
      if (agent !== `${projectId}/${agentName}`) continue;
      for (const [etag, seenMs] of seenMsByEtag) {
        if (seenMs < sinceMs) continue;
        const held = byEtag.get(etag) ?? { keys: 0, seenMs: 0 };
        byEtag.set(etag, { keys: held.keys + 1, seenMs: Math.max(held.seenMs, seenMs) });
      }
    }
    return [...byEtag]
      .map(([etag, { keys, seenMs }]) => ({
        etag,
        keys,
        last_seen: new Date(seenMs).toISOString(),
      }))
      .sort((a, b) => b.keys - a.keys || (a.last_seen < b.last_seen ? 1 : -1));
  }
}

/** Puts the entry last in line, and drops the first when there are too many. */
function touch<T>(
  map: Map<string, T>,
  { key, value, sizeMax }: { key: string; value: T; sizeMax: number },
): void {
  map.delete(key);
  map.set(key, value);
  if (map.size <= sizeMax) return;
  const [oldest] = map.keys();
  if (oldest !== undefined) map.delete(oldest);
}
