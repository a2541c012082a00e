/** Forgotten after this long without a heartbeat. */
const AGE_MS_MAX = 24 * 60 * 60 * 1000;
/** Heartbeats of one agent, and agents, that are kept; the ones seen longest ago go first. */
const HEARTBEATS_MAX = 10_000;
const AGENTS_MAX = 1000;

type Heartbeat = { keyId: string; etag: string; seenMs: number };
export type HeldVersion = { etag: string; keys: number; last_seen: string };

/**
 * Which versions clients hold: a policy fetch with If-None-Match is a heartbeat. Kept in memory only, so that a fetch
 * writes nothing; it starts anew with the process.
 */
export class Fleet {
  readonly #agents = new Map<string, Map<string, Heartbeat>>();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  seen(
    agent: { projectId: string; agentName: string },
    { keyId, etag }: { keyId: string; etag: string },
  ): void {
    const agentKey = `${agent.projectId}/${agent.agentName}`;
    const heartbeats = this.#agents.get(agentKey) ?? new Map<string, Heartbeat>();
    touch(this.#agents, agentKey, heartbeats, AGENTS_MAX);
    touch(heartbeats, `${keyId} ${etag}`, { keyId, etag, seenMs: this.#now() }, HEARTBEATS_MAX);
  }

  /** The versions held, the one with the most keys first. */
  held(projectId: string, agentName: string): HeldVersion[] {
    const sinceMs = this.#now() - AGE_MS_MAX;
    const byEtag = new Map<string, { keys: Set<string>; seenMs: number }>();
    for (const { keyId, etag, seenMs } of this.#agents.get(`${projectId}/${agentName}`)?.values() ?? []) {
      if (seenMs < sinceMs) continue;
      const held = byEtag.get(etag) ?? { keys: new Set(), seenMs: 0 };
      held.keys.add(keyId);
      held.seenMs = Math.max(held.seenMs, seenMs);
      byEtag.set(etag, held);
    }
    return [...byEtag]
      .map(([etag, { keys, seenMs }]) => ({
        etag,
        keys: keys.size,
        last_seen: new Date(seenMs).toISOString(),
      }))
      .sort((a, b) => b.keys - a.keys || (a.last_seen < b.last_seen ? 1 : -1));
  }
}

/** Puts the entry last in line, and drops the first when there are too many. */
function touch<T>(map: Map<string, T>, key: string, value: T, sizeMax: number): void {
  map.delete(key);
  map.set(key, value);
  if (map.size <= sizeMax) return;
  const [oldest] = map.keys();
  if (oldest !== undefined) map.delete(oldest);
}
