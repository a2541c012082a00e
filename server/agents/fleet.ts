import { LRUCache } from 'lru-cache';
import { DAY_MS } from '../durations.ts';

/** Limits the memory to 30 MB. */
const HOLDERS_MAX = 20_000;
const ETAGS_PER_HOLDER_MAX = 5;

type Held = { etag: string; seenMs: number };
/** One key on one agent. Clients that share a key may hold several versions, listed here by their latest fetch. */
type Holder = { agent: string; held: Held[] };
type HeldVersion = { etag: string; keys: number; last_seen: string };

/**
 * Knows which versions clients held in the last 24 hours: If-None-Match of a policy fetch names the version held. Kept only in memory, so
 * that a fetch writes nothing to the store.
 */
export class Fleet {
  readonly #holders = new LRUCache<string, Holder>({ max: HOLDERS_MAX });
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
    const others = (this.#holders.get(id)?.held ?? []).filter((held) => held.etag !== etag);
    const held = [{ etag, seenMs: this.#now() }, ...others].slice(0, ETAGS_PER_HOLDER_MAX);
    this.#holders.set(id, { agent, held });
  }

  /** How many keys hold one agent. Its versions are sorted by number of keys, then by last fetch, descending. */
  held(projectId: string, agentName: string): { keys: number; versions: HeldVersion[] } {
    const sinceMs = this.#now() - DAY_MS;
    const wanted = `${projectId}/${agentName}`;
    let keysSeen = 0;
    const byEtag = new Map<string, { keys: number; seenMs: number }>();
    for (const { agent, held } of this.#holders.values()) {
      if (agent !== wanted) continue;
      if (held.some(({ seenMs }) => seenMs >= sinceMs)) keysSeen += 1;
      for (const { etag, seenMs } of held) {
        if (seenMs < sinceMs) continue;
        const sum = byEtag.get(etag) ?? { keys: 0, seenMs: 0 };
        byEtag.set(etag, { keys: sum.keys + 1, seenMs: Math.max(sum.seenMs, seenMs) });
      }
    }
    const versions = [...byEtag]
      .map(([etag, { keys, seenMs }]) => ({ etag, keys, last_seen: new Date(seenMs).toISOString() }))
      .sort((a, b) => b.keys - a.keys || (a.last_seen < b.last_seen ? 1 : -1));
    return { keys: keysSeen, versions };
  }
}
